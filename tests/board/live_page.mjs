// SPDX-License-Identifier: Apache-2.0
//
// Looks at a board in Chromium while the run "growing" trains (board_command_test.cpp
// serves it, beside the run "other" and the sweep "study" of made-up runs): its curves
// and the table that compares it grow, a chart is zoomed, a sweep and a landscape are
// shown, everybody can use it, and the run is stopped from the page. Exits with 1 at the
// first thing that is not as it should be.
//
//   node live_page.mjs MODULES ADDRESS

import assert from "node:assert/strict";
import { fitsItsWindow, reachesEverything, violations } from "../pages/accessibility.mjs";
import { newPage, startChromium } from "../pages/chromium.mjs";

const [, , modules, address] = process.argv;

const pointsOf = (page, id) => page.evaluate((run) => {
  const series = board.shown.get(run)?.series.find((one) => one.name === "train/loss");
  return series ? series.x.length : 0;
}, id);

const drawn = (page) => page.evaluate(() =>
  lineCharts[0]?.drawing?.instance?.getOption().series.reduce((sum, one) => sum + one.data.length, 0) ?? 0);

const stepsInTable = (page) => page.evaluate(() =>
  Number([...document.querySelectorAll("#shown #runs tbody tr")].find((row) => row.textContent.includes("growing"))?.cells[STEPS_AT]?.textContent.replaceAll(",", "") ?? 0));

async function grows(page, measure, what) {
  const before = await measure();
  for (let i = 0; i < 150; ++i) {
    if (await measure() > before) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`${what} does not grow beyond ${before}`);
}

async function looksAtARunThatGrows(page) {
  await page.goto(address);
  assert.ok(!page.url().includes("token"), "the token stays in the address");
  await page.getByRole("button", { name: "growing", exact: true }).click();
  await page.waitForSelector("#curves");
  await grows(page, () => pointsOf(page, "growing"), "the curve");
  await page.locator("#curves").scrollIntoViewIfNeeded();
  await grows(page, () => drawn(page), "the curve that is drawn");
}

async function zooms(page) {
  const places = () => page.evaluate(() => lineCharts[0].spec.series.find((line) => line.whole)?.series.x ?? []);
  await page.evaluate(() => setZoom(lineCharts[0], [2, 5]));
  await page.waitForFunction(() => lineCharts[0].spec.series.some((line) => line.whole));
  assert.deepEqual(await places(), [2, 3, 4, 5], "all steps of the range");
  await page.evaluate(() => setZoom(lineCharts[0], null));
  assert.deepEqual(await places(), []);
}

async function comparesRunsThatGrow(page) {
  await page.getByLabel("Show other").check();
  await page.waitForFunction(() => board.shown.size === 2);
  assert.ok(page.url().includes("run=other"), "the address names what is shown");
  await page.locator("#shown #runs th button", { hasText: "Run" }).click();
  await page.evaluate(() => { globalThis.STEPS_AT = [...document.querySelectorAll("#shown #runs thead th")].findIndex((head) => head.textContent === "Steps"); document.activeElement.blur(); });
  await grows(page, () => stepsInTable(page), "the number of steps in the table");
  assert.equal(await page.locator("#shown #runs th[aria-sort]").innerText(), "Run", "it stays sorted");
}

async function filters(page) {
  await page.getByLabel("Filter", { exact: true }).fill("other");
  await page.waitForFunction(() => document.querySelectorAll(".run-list tbody tr:not([hidden])").length === 1);
  await page.getByLabel("Filter", { exact: true }).fill("epochs=2");
  await page.waitForFunction(() => document.querySelector(".run-list tbody").innerText.includes("other"));
  assert.equal(await page.locator(".run-list tbody tr:not([hidden])").count(), 1);
  await page.getByLabel("Filter", { exact: true }).fill("");
}

async function showsASweep(page) {
  await page.getByRole("button", { name: "Show the sweep study" }).click();
  await page.waitForSelector("#study");
  assert.ok(page.url().includes("sweep=study"));
  assert.match(await page.locator("#study .best").innerText(), /train\.seed=1/);
  const lines = await page.evaluate(() => {
    drawAll();
    return echarts.getInstanceByDom(document.getElementById("chart-parallel")).getOption().series[0].data.length;
  });
  assert.equal(lines, 2, "one line per group of the sweep");
}

/** Ticked one by one, runs have parallel axes as well. */
async function showsParallelAxes(page) {
  await page.getByRole("button", { name: "Tick none" }).click();
  for (const id of ["other", "study/a", "study/b"]) await page.getByLabel("Show " + id).check();
  await page.waitForFunction(() => board.shown.size === 3 && document.getElementById("chart-parallel"));
  const option = await page.evaluate(() => {
    drawAll();
    const made = echarts.getInstanceByDom(document.getElementById("chart-parallel")).getOption();
    return { axes: made.parallelAxis.map((axis) => axis.name), lines: made.series[0].data.length };
  });
  assert.equal(option.lines, 3);
  assert.ok(option.axes.includes("train.seed") && option.axes.includes("validation accuracy"), option.axes.join());
}

async function showsALandscape(page) {
  await page.getByRole("button", { name: "study/a", exact: true }).click();
  await page.waitForFunction(() => board.shown.size === 1 && document.getElementById("chart-landscape-surface"));
  await page.locator("#chart-landscape-surface").scrollIntoViewIfNeeded();
  await page.locator("#chart-landscape-surface canvas").first().waitFor();
}

async function isUsableByEveryone(browser, cookies) {
  for (const { width, theme, query } of [{ width: 1280, theme: "light", query: "?sweep=study" }, { width: 390, theme: "dark", query: "?run=study%2Fa&run=other" },
                                         { width: 390, theme: "light", query: "?run=study%2Fa" }, { width: 1280, theme: "dark", query: "" }]) {
    const page = await newPage(browser, { width, theme });
    await page.context().addCookies(cookies);
    await page.goto(new URL(address).origin + "/" + query);
    await page.waitForFunction((shown) => board.reading === 0 && (!shown || board.shown.size > 0), query !== "");
    await fitsItsWindow(page);
    assert.deepEqual(await violations(page, modules), [], `${width} ${theme} ${query}`);
    if (width === 1280) await reachesEverything(page);
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  }
}

async function stops(page) {
  await page.getByRole("button", { name: "Stop growing" }).click();
  await page.getByText("Really stop?").click();
  await page.waitForFunction(() => board.entries.get("growing").state === "stopped");
}

const browser = await startChromium(modules);
try {
  const page = await newPage(browser);
  page.setDefaultTimeout(20000);
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith("data:")) page.complaints.push("asks for " + request.url());
  });
  await looksAtARunThatGrows(page);
  await zooms(page);
  await comparesRunsThatGrow(page);
  await filters(page);
  await showsASweep(page);
  await showsParallelAxes(page);
  await showsALandscape(page);
  await stops(page);
  await isUsableByEveryone(browser, await page.context().cookies());
  assert.deepEqual(page.complaints, []);
} finally {
  await browser.close();
}
