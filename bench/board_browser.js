// SPDX-License-Identifier: Apache-2.0
//
// What a person waits for at a board, in milliseconds as JSON (see board_times.py).
//
//   node board_browser.js MODULES ADDRESS

const [modules, address] = process.argv.slice(2);
const { chromium } = require(modules + "/playwright-core");

/** From an action until the frame after it is drawn, with all charts that are in the window, inside the page. */
const framed = (page, action) => page.evaluate(async (source) => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const isInSight = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  const begin = performance.now();
  await (0, eval)(`(${source})`)();
  do await frame(); while ([...watched.keys()].some((plot) => isInSight(plot.getBoundingClientRect())));
  return performance.now() - begin;
}, action.toString());

/** The least of five times; `undo` is not counted. */
async function least(page, action, undo = () => {}) {
  const times = [];
  for (let i = 0; i < 5; ++i) {
    times.push(await framed(page, action));
    await framed(page, undo);
  }
  return Math.min(...times);
}

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
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
  const noFilter = () => { board.filter = ""; fillList(); };
  times["filter by a text"] = await least(page, () => { board.filter = "run-01"; fillList(); }, noFilter);
  times["filter by a setting"] = await least(page, () => { board.filter = "seed=77"; fillList(); }, noFilter);
  times["no filter"] = await least(page, noFilter, () => { board.filter = "run-01"; fillList(); });
  await framed(page, noFilter);
  times["sort"] = await least(page, () => document.querySelectorAll(".run-list .sort")[0].click());
  const nothing = () => { board.ticked.clear(); return showTicked(); };
  times["show a run"] = await least(page, () => { board.ticked = new Set(["run-0000"]); return showTicked(); }, nothing);
  times["compare ten runs"] = await least(page, () => {
    board.ticked = new Set([...board.entries.keys()].slice(0, 10));
    return showTicked();
  }, nothing);
  await framed(page, () => { board.ticked = new Set(["run-0000"]); return showTicked(); });
  await framed(page, () => document.getElementById("curves").scrollIntoView());
  times["smooth its curves"] = await least(page, () => {
    const slider = document.querySelector("#curves input[type=range]");
    slider.value = slider.value < 0.8 ? 0.9 : 0.5;
    slider.dispatchEvent(new Event("input"));
  });
  times["hover"] = await least(page, () => lineCharts[0].cursor.show(5000, null, false));
  times["zoom, with the points that are there"] = await least(page, () => { setZoom(lineCharts[0], [4000, 6000]); }, () => { setZoom(lineCharts[0], null); });
  const begin = Date.now();
  await framed(page, () => { setZoom(lineCharts[0], [4000, 6000]); });
  await page.waitForFunction(() => lineCharts[0].spec.series.some((line) => line.whole));
  times["zoom, until all points of the range are there"] = Date.now() - begin;
  console.log(JSON.stringify(times));
  await browser.close();
}

main();
