// SPDX-License-Identifier: Apache-2.0
//
//   node measure.mjs FILE
//
// Times a page in Chromium: its first contentful paint, when all of it is there, the
// values below the mouse, and a change of smoothing of all charts in sight, which are the
// least of several times; in milliseconds, as one JSON object. Modules are those that script/bootstrap test installs.

import { homedir } from "node:os";
import { openPage, startChromium } from "./chromium.mjs";

const cache = process.env.XDG_CACHE_HOME || homedir() + "/.cache";
const browser = await startChromium(cache + "/convoy/playwright");
const page = await openPage(browser, process.argv[2]);
await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
const shown = await page.evaluate(() => performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
const result = await page.evaluate(async () => {
  const frame = document.querySelector(".plot-frame");
  frame.scrollIntoView();
  await new Promise((done) => setTimeout(done, 500));
  const box = frame.getBoundingClientRect();
  const hover = [], smoothing = [];
  for (let i = 0; i < 21; ++i) {
    const begin = performance.now();
    frame.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 80 + 10 * i, clientY: box.top + 100, bubbles: true }));
    frame.offsetWidth;
    hover.push(performance.now() - begin);
  }
  const range = document.querySelector("#curves input[type=range]");
  for (let i = 0; i < 9; ++i) {
    const begin = performance.now();
    range.value = 0.5 + 0.04 * i;
    range.dispatchEvent(new Event("input"));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    smoothing.push(performance.now() - begin);
  }
  return { hover: Math.min(...hover), smoothing: Math.min(...smoothing) };
});
console.log(JSON.stringify({ paint, shown, ...result }));
await browser.close();
