// SPDX-License-Identifier: Apache-2.0
//
// Looks at a board in Chromium while the run "growing" trains: its curves grow, a second
// run is compared, a chart is zoomed, and the run is stopped from the page.
//
//   node live_page.js MODULES ADDRESS [SCREENSHOTS]

const [modules, address, screenshots] = process.argv.slice(2);
const { chromium } = require(modules + "/playwright-core");

const problems = [];
const expect = (holds, what) => { if (!holds) problems.push(what); };

async function screenshot(page, name) {
  if (screenshots) await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}

const pointsOf = (page, id) => page.evaluate((run) => {
  const series = board.shown.get(run)?.series.find((one) => one.name === "train/loss");
  return series ? series.x.length : 0;
}, id);

const drawn = (page) => page.evaluate(() =>
  lineCharts[0]?.drawing?.instance?.getOption().series.reduce((sum, one) => sum + one.data.length, 0) ?? 0);

async function grows(page, measure) {
  const before = await measure();
  for (let i = 0; i < 100; ++i) {
    if (await measure() > before) return true;
    await page.waitForTimeout(100);
  }
  return false;
}

async function look(page) {
  await page.goto(address);
  expect(!page.url().includes("token"), "the token stays in the address");
  await page.getByRole("button", { name: "growing", exact: true }).click();
  await page.waitForSelector("#curves");
  expect(await pointsOf(page, "growing") > 0, "no points");
  expect(await grows(page, () => pointsOf(page, "growing")), "no new points arrive");
  if (await page.evaluate(() => hasCharts())) {
    await page.locator("#curves").scrollIntoViewIfNeeded();
    expect(await grows(page, () => drawn(page)), "the curve that is drawn does not grow");
  }
  await screenshot(page, "growing");
}

async function compareTwo(page) {
  await page.getByLabel("Show other").check();
  await page.waitForFunction(() => board.shown.size === 2);
  expect((await page.url()).includes("run=other"), "the address does not name what is shown");
  await screenshot(page, "compare");
  await page.getByLabel("Filter").fill("other");
  await page.waitForFunction(() => document.querySelectorAll(".run-list tbody tr").length === 1);
  await page.getByLabel("Filter").fill("epochs=2");
  await page.waitForFunction(() => document.querySelector(".run-list tbody").textContent.includes("other"));
  expect(await page.locator(".run-list tbody tr").count() === 1, "the filter by a setting");
  await page.getByLabel("Filter").fill("");
}

async function stop(page) {
  await page.getByRole("button", { name: "Stop growing" }).click();
  await page.getByText("Really stop?").click();
  await page.waitForFunction(() => board.entries.get("growing").state === "stopped");
}

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(20000);
  page.on("console", (message) => { if (message.type() === "error") problems.push("console: " + message.text()); });
  page.on("pageerror", (error) => problems.push("error: " + error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith("data:")) problems.push("asks " + request.url());
  });
  try {
    await look(page);
    await compareTwo(page);
    await stop(page);
  } catch (error) {
    problems.push(String(error));
    await screenshot(page, "failed");
  }
  await browser.close();
  for (const problem of problems) console.log(problem);
  process.exit(problems.length > 0 ? 1 : 0);
}

main();
