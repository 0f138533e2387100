// SPDX-License-Identifier: Apache-2.0
//
// Whether everybody can use a page: what axe finds wrong with it, and what the keyboard
// alone reaches.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** What axe finds wrong, by rule and element, when all charts are drawn. */
export async function violations(page, modules) {
  await page.evaluate(() => drawAll());
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.evaluate(readFileSync(createRequire(modules + "/").resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target + " " + node.failureSummary).join("; ")}`);
}

/** That Tab stops at everything that can be clicked, typed into or scrolled. */
export async function reachesEverything(page) {
  await page.evaluate(() => { for (const one of document.querySelectorAll("[data-seen]")) delete one.dataset.seen; });
  await page.locator(".skip").focus();
  for (let i = 0; i < 400; ++i) {
    const more = await page.evaluate(() => {
      const at = document.activeElement;
      if (at === document.body || at.dataset.seen) return at.classList.contains("skip");
      at.dataset.seen = "yes";
      return true;
    });
    if (!more) break;
    await page.keyboard.press("Tab");
  }
  const missed = await page.evaluate(() => [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
    .filter((one) => !one.dataset.seen && one.checkVisibility() && !one.disabled)
    .map((one) => `${one.tagName} ${one.getAttribute("aria-label") || one.textContent.slice(0, 40)}`));
  assert.deepEqual(missed, [], "the keyboard does not reach these");
}

/** That a page is no wider than its window. */
export async function fitsItsWindow(page) {
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window, `the page is ${width} pixels wide, the window ${window}`);
}
