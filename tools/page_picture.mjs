// SPDX-License-Identifier: Apache-2.0
//
//   node page_picture.mjs PAGE PICTURE.png [WIDTH] [light|dark]
//
// A picture of the upper part of a page, as Chromium shows it.

import { homedir } from "node:os";
import { resolve } from "node:path";
import { openPage, startChromium } from "../tests/pages/chromium.mjs";

const [, , file, picture, width = "1280", theme = "light"] = process.argv;
const cache = process.env.XDG_CACHE_HOME || homedir() + "/.cache";
const browser = await startChromium(cache + "/convoy/playwright");
const page = await openPage(browser, resolve(file), { width: Number(width), theme });
await page.evaluate(() => drawAll());
await page.waitForTimeout(200);
await page.screenshot({ path: picture });
await browser.close();
