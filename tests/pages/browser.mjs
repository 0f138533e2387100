// SPDX-License-Identifier: Apache-2.0
//
//   node browser.mjs MODULES ONE ALL
//
// Opens the page of one run and that of several (browser_test.cpp wrote both), uses them
// as people do, and exits with 1 at the first thing that is not as it should be.

import assert from "node:assert/strict";
import { fitsItsWindow, reachesEverything, violations } from "./accessibility.mjs";
import { openPage, startChromium } from "./chromium.mjs";

const [, , modules, one, all] = process.argv;
/** The lines of a chart as it draws them, without faint ones behind smoothed lines. */
const drawn = (page, id) => page.evaluate((name) => {
  drawAll();
  const option = echarts.getInstanceByDom(document.getElementById("chart-" + name)).getOption();
  const pairsOf = (data) => (ArrayBuffer.isView(data) ? Array.from({ length: data.length / 2 }, (_, i) => [data[2 * i], data[2 * i + 1]]) : data);
  return option.series.filter((s) => s.data.length > 0).map((s) => pairsOf(s.data));
}, id);

async function showsTheCurves(page) {
  await page.locator("input[type=range]").first().fill("0");
  const [train, val] = await drawn(page, "loss");
  assert.equal(train.length, 20);
  for (const [step, loss] of train) assert.ok(Math.abs(loss - 2 * Math.exp(-step / 10)) < 1e-4, `loss at ${step}: ${loss}`);
  assert.deepEqual(val, [[10, 0.4], [20, 0.4]]);
  await page.locator("#curves select").selectOption("seconds");
  assert.deepEqual((await drawn(page, "loss"))[1].map((p) => p[0]), [2, 4]);
  await page.locator("#curves select").selectOption("epoch");
  assert.deepEqual((await drawn(page, "loss"))[1].map((p) => p[0]), [1, 2]);
  await page.locator("#curves select").selectOption("step");
}

async function smoothsAndScales(page) {
  await page.locator("#curves input[type=range]").fill("0.9");
  const lines = await drawn(page, "loss");
  assert.equal(lines.length, 3, "raw and smoothed training loss, and validation");
  assert.ok(lines[1][19][1] > lines[0][19][1], "a falling curve lags behind when smoothed");
  await page.locator("#curves input[type=checkbox]").check();
  const type = await page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-loss")).getOption().yAxis[0].type);
  assert.equal(type, "log");
  await page.locator("#curves input[type=checkbox]").uncheck();
  await page.locator("#curves input[type=range]").fill("0");
}

async function readsValues(page) {
  const plot = page.locator("[data-chart=loss] .plot-frame");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const shown = await page.locator("[data-chart=loss] .values").innerText();
  assert.match(shown, /step \d+/);
  assert.match(shown, /training\s+[\d.]+/);
  await page.mouse.move(box.x + box.width / 3, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + 80, { steps: 3 });
  await page.mouse.up();
  const zoomed = await page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-loss")).getOption().xAxis[0]);
  assert.ok(zoomed.max - zoomed.min < 10, "dragging zooms");
  await page.locator("[data-chart=loss] button", { hasText: "Show all" }).click();
}

async function hidesLines(page) {
  const entry = page.locator("[data-chart=loss] .legend-entry", { hasText: "training" });
  await entry.click();
  assert.equal(await entry.getAttribute("aria-pressed"), "false");
  assert.equal((await drawn(page, "loss")).length, 1);
  await entry.click();
  assert.equal((await drawn(page, "loss")).length, 2);
}

async function followsTheKeyboard(page) {
  await page.locator("[data-chart=loss] .plot-frame").focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await page.locator("[data-chart=loss] [role=status]").innerText(), /step 3: training 1\.48/);
  await page.keyboard.press("+");
  const zoomed = await page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-loss")).getOption().xAxis[0].max);
  assert.ok(zoomed < 20, "plus zooms");
  await page.keyboard.press("0");
  await reachesEverything(page);
}

async function switchesThemes(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.getByRole("button", { name: "Switch between light and dark" }).click();
  assert.notEqual(await ground(), before);
  assert.deepEqual(await violations(page, modules), []);
}

async function showsEverything(page) {
  const found = await page.evaluate(() => [...document.querySelectorAll("section")].map((one) => one.id));
  assert.deepEqual(found, ["overview", "curves", "classes", "time", "resources", "asynchrony", "model", "histograms", "landscape", "settings", "repeat"]);
  assert.equal(await page.locator("h1").innerText(), "<img src=x onerror=alert(1)>");
  assert.equal(await page.locator("#content img").count(), 0, "a name is no markup");
  await page.locator("[data-chart=loss] button", { hasText: "Numbers" }).click();
  assert.equal(await page.locator("[data-chart=loss] tbody tr").count(), 20);
}

async function showsHistograms(page) {
  const lines = await drawn(page, "histogram-weights");
  assert.equal(lines.length, 2, "one line per epoch");
  assert.ok(Math.abs(lines[1][0][0] + 1.6) < 1e-9, "the middle of the first of five parts from -2 to 2");
  await page.locator("[data-chart=histogram-weights] button", { hasText: "Numbers" }).click();
  assert.match(await page.locator("[data-chart=histogram-weights] tbody").innerText(), /2\s+-2/);
}

async function turnsTheSurface(page) {
  const plot = page.locator("#chart-landscape-surface");
  await plot.locator("canvas").first().waitFor();
  const beta = () => page.evaluate(() => echarts.getInstanceByDom(document.getElementById("chart-landscape-surface")).getOption().grid3D[0].viewControl.beta);
  const before = await beta();
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await beta(), before + 10);
}

async function comparesRuns(page) {
  const found = await page.evaluate(() => [...document.querySelectorAll("section")].map((one) => one.id));
  assert.deepEqual(found, ["study", "runs", "curves", "speed", "target", "settings"]);
  assert.equal(await page.locator("#runs tbody tr").count(), 3);
  assert.equal((await drawn(page, "eval-accuracy")).length, 2);
  await page.locator(".picker label", { hasText: "other" }).locator("input").uncheck();
  assert.equal((await drawn(page, "eval-accuracy")).length, 1);
  await page.locator("#runs th button", { hasText: "Run" }).click();
  assert.match(await page.locator("#target tbody").innerText(), /other\s+4 s\s+20/);
  assert.match(await page.locator("#study .best").innerText(), /train\.seed=1/);
  assert.match(await page.locator("#settings tbody").innerText(), /train\.seed\s+1/);
}

async function fitsAPhone(browser, file) {
  const page = await openPage(browser, file, { width: 390, theme: "dark" });
  await page.evaluate(() => drawAll());
  await fitsItsWindow(page);
  assert.deepEqual(await violations(page, modules), []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
}

const browser = await startChromium(modules);
try {
  const page = await openPage(browser, one);
  await showsTheCurves(page);
  await smoothsAndScales(page);
  await readsValues(page);
  await hidesLines(page);
  await followsTheKeyboard(page);
  await showsEverything(page);
  await showsHistograms(page);
  await turnsTheSurface(page);
  assert.deepEqual(await violations(page, modules), []);
  await switchesThemes(page);
  assert.ok((await page.pdf({ format: "A4" })).length > 20_000, "it can be printed");
  assert.deepEqual(page.complaints, []);
  const several = await openPage(browser, all);
  await comparesRuns(several);
  await reachesEverything(several);
  assert.deepEqual(await violations(several, modules), []);
  assert.deepEqual(several.complaints, []);
  for (const file of [one, all]) await fitsAPhone(browser, file);
} finally {
  await browser.close();
}
