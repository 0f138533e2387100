// SPDX-License-Identifier: Apache-2.0
//
// What a person waits for at a board, in milliseconds as JSON (see board_times.py).
//
//   node board_browser.js MODULES ADDRESS

const [modules, address] = process.argv.slice(2);
const { chromium } = require(modules + "/playwright-core");

/** From an action until the frame after it is drawn, inside the page. */
const framed = (page, action, argument) => page.evaluate(async ([source, given]) => {
  const begin = performance.now();
  await (0, eval)(`(${source})`)(given);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - begin;
}, [action.toString(), argument]);

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
  // The page's policy forbids eval, which framed() needs; nothing else is different.
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, bypassCSP: true });
  await page.goto(address.split("?")[0]);  // once before: the browser's own start is not counted
  const times = {};
  await page.goto(address);
  times["first paint"] = await page.evaluate(() => new Promise((done) => {
    const found = () => performance.getEntriesByName("first-contentful-paint")[0];
    const wait = () => (found() ? done(found().startTime) : setTimeout(wait, 10));
    wait();
  }));
  await page.waitForFunction(() => board.entries.size > 0 && board.reading === 0);
  times["the list is complete"] = await page.evaluate(() => performance.now());
  times["filter by a text"] = await framed(page, () => { board.filter = "run-01"; fillList(); });
  times["filter by a setting"] = await framed(page, () => { board.filter = "seed=77"; fillList(); });
  times["no filter"] = await framed(page, () => { board.filter = ""; fillList(); });
  times["sort"] = await framed(page, () => document.querySelectorAll(".run-list .sort")[0].click());
  times["show a run"] = await framed(page, async () => { board.ticked = new Set(["run-0000"]); await showTicked(); drawAll(); });
  times["smooth its curves"] = await framed(page, () => {
    const slider = document.querySelector("#curves input[type=range]");
    slider.value = 0.9;
    slider.dispatchEvent(new Event("input"));
  });
  times["hover"] = await framed(page, () => lineCharts[0].cursor.show(5000, null, false));
  times["zoom, with the points that are there"] = await framed(page, () => { setZoom(lineCharts[0], [4000, 6000]); });
  const begin = Date.now();
  await page.waitForFunction(() => lineCharts[0].spec.series.some((line) => line.whole));
  times["zoom, until all points of the range are there"] = Date.now() - begin;
  times["compare ten runs"] = await framed(page, async () => {
    board.ticked = new Set([...board.entries.keys()].slice(0, 10));
    await showTicked();
    drawAll();
  });
  console.log(JSON.stringify(times));
  await browser.close();
}

main();
