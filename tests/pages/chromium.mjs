// SPDX-License-Identifier: Apache-2.0
//
// Starts Debian's Chromium without a window and without a network of its own.

import { createRequire } from "node:module";

/** `modules`: the folder that script/bootstrap installed playwright-core into. */
export async function startChromium(modules) {
  const { chromium } = createRequire(modules + "/")("playwright-core");
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: [
    "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"] });
}

/** A page of a file, with networking off. Whatever it complains about is in `complaints`. */
export async function openPage(browser, file, options = {}) {
  const page = await newPage(browser, { ...options, offline: true });
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) page.complaints.push("asks for " + request.url()); });
  await page.goto("file://" + encodeURI(file).replaceAll("#", "%23").replaceAll("?", "%3F"));
  return page;
}

/** An empty page; `complaints` is the same. */
export async function newPage(browser, { width = 1280, theme = "light", offline = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, offline });
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    const ofDriver = message.text().includes("GL Driver Message");  // of WebGL without a GPU
    if (["error", "warning"].includes(message.type()) && !ofDriver) page.complaints.push(message.text());
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("dialog", (dialog) => { page.complaints.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  return page;
}
