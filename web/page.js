// SPDX-License-Identifier: Apache-2.0
//
// Builds the page from its data, and the buttons at its top.

const page = readPageData();

function themeButton() {
  const button = el("button", { type: "button", class: "small" });
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.setAttribute("aria-label", "Switch between light and dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("convoy-theme", document.documentElement.dataset.theme); } catch { /* private */ }
    label();
    redrawAll();
  });
  label();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { label(); redrawAll(); });
  return button;
}

function useStoredTheme() {
  try {
    const stored = localStorage.getItem("convoy-theme");
    if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
  } catch { /* a file may have no storage */ }
}

function fillNavigation(sections) {
  document.getElementById("sections").replaceChildren(...sections.map((one) =>
    el("a", { href: "#" + one.id }, one.querySelector("h2").textContent)));
}

/** Draws everything at the width of paper, and goes back afterwards. */
function preparePrinting() {
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "yes";
    drawAll();
    redrawAll();
    resizeAll();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    redrawAll();
    resizeAll();
  });
}

function showPage(data) {
  const runs = list(data.runs);
  const sections = (runs.length === 1 ? runSections(runs[0]) : comparisonSections(data)).filter(Boolean);
  document.getElementById("content").replaceChildren(...sections);
  fillNavigation(sections);
  document.getElementById("footer").replaceChildren(`Made by convoy ${text(data.version)}. This file is complete: it loads nothing.`);
}

useStoredTheme();
document.getElementById("top-buttons").append(
  el("button", { type: "button", class: "small", onclick: () => print() }, "Print"), themeButton());
preparePrinting();
let resizing = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => resizeAll());
});
if (page.live === null || page.live === undefined) showPage(page);
