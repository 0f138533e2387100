// SPDX-License-Identifier: Apache-2.0
//
// The live page (convoy board): a list of runs that grows, and below it the page of those
// that are ticked, whose curves grow while they train.

const MOST_ROWS_SHOWN = 500;
const ROWS_AT_ONCE = 60;  // more than can be seen

const board = {
  entries: new Map(),   // by id: what the list shows of a run
  ticked: new Set(),    // ids, in the order of ticking
  shown: new Map(),     // by id: page data of the runs below the list
  rows: new Map(),      // by id: {row, key}
  version: 0, reading: 0, order: null, filter: "", more: false, fillings: 0,
  comparison: null,     // of the shown runs, if they are several
  sweep: null,          // the id of the sweep that is shown
  study: null,          // its sweep.json
  sweeps: [],           // the ids of all
  generation: 0,        // of what is shown: an answer of an older one is dropped
};

async function getJson(path) {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) throw new Error(text(object(await answer.json().catch(() => null)).error) || String(answer.status));
  return answer.json();
}

const idPath = (id) => id.split("/").map(encodeURIComponent).join("/");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// The list.

const listedScore = (entry, split, what) => number(object(object(entry.scores)[split])[what]);

const LIST_COLUMNS = [
  { head: "Show", cell: tickCell },
  { head: "Run", rowHead: true, sort: (e) => e.id, cell: nameCell },
  { head: "State", left: true, sort: (e) => e.state, cell: stateCell },
  { head: "Model", left: true, sort: (e) => text(e.model), cell: (e) => text(e.model) || "\u2013" },
  { head: "Data", left: true, sort: (e) => text(e.data), cell: (e) => text(e.data) || "\u2013" },
  { head: "Epoch", sort: (e) => number(e.epoch), cell: (e) => withCommas(e.epoch) },
  { head: "Step", sort: (e) => number(e.step), cell: (e) => withCommas(e.step) },
  { head: "Training loss", sort: (e) => listedScore(e, "train", "loss"), cell: (e) => short(listedScore(e, "train", "loss")) },
  { head: "Validation", sort: (e) => listedScore(e, "val", "accuracy"), cell: (e) => percent(listedScore(e, "val", "accuracy")) },
  { head: "Test", sort: (e) => listedScore(e, "test", "accuracy"), cell: (e) => percent(listedScore(e, "test", "accuracy")) },
  { head: "Time", sort: (e) => number(e.training_seconds), cell: (e) => duration(e.training_seconds) },
  { head: "Images/s", sort: (e) => number(e.images_per_second),
    cell: (e) => (isNumber(e.images_per_second) ? withCommas(Math.round(e.images_per_second)) : "\u2013") },
];

function tickCell(entry) {
  const box = el("input", { type: "checkbox", "aria-label": "Show " + entry.id, checked: board.ticked.has(entry.id) });
  box.addEventListener("change", () => {
    if (box.checked) board.ticked.add(entry.id); else board.ticked.delete(entry.id);
    board.sweep = null;
    showTicked();
  });
  return box;
}

function nameCell(entry) {
  return el("button", { type: "button", class: "run-name", onclick: () => {
    board.ticked = new Set([entry.id]);
    board.sweep = null;
    fillList();
    showTicked();
  } }, entry.id);
}

function stateCell(entry) {
  const parts = [stateBadge(text(entry.state))];
  if (entry.state === "running" && page.live.may_stop) parts.push(" ", stopButton(entry));
  return el("span", { title: list(entry.problems).map(text).join("\n") || null }, parts);
}

/** Asks twice: the second click within three seconds stops the run. */
function stopButton(entry) {
  const button = el("button", { type: "button", class: "small", "aria-label": "Stop " + entry.id }, "Stop");
  let asked = 0;
  button.addEventListener("click", async () => {
    if (!asked) {
      button.textContent = "Really stop?";
      asked = setTimeout(() => { asked = 0; button.textContent = "Stop"; }, 3000);
      return;
    }
    clearTimeout(asked);
    button.disabled = true;
    button.textContent = "Stopping";
    const answer = await fetch("api/stop/" + idPath(entry.id), { method: "POST", credentials: "same-origin" }).catch(() => null);
    if (!answer || !answer.ok) {
      const reason = answer ? text(object(await answer.json().catch(() => null)).error) : "";
      say(`${entry.id} was not stopped: ${reason || "no answer"}`);
      button.disabled = false;
      button.textContent = "Stop";
      asked = 0;
    }
  });
  return button;
}

/** The value of a setting by the end of its name: lr is optimizer.lr. */
function settingsNamed(entry, name) {
  const all = { ...object(page.live.defaults), ...object(entry.settings), state: text(entry.state),
                model: text(entry.model), data: text(entry.data), run: entry.id };
  return Object.entries(all).filter(([key]) => key === name || key.endsWith("." + name)).map(([, value]) => String(value));
}

const sameValue = (a, b) => a.toLowerCase() === b.toLowerCase() || (a !== "" && b !== "" && Number(a) === Number(b));

/** Whether a run has all words of the filter: "vgg lr=0.1" is a text and a setting. */
function matches(entry, words) {
  return words.every((word) => {
    const at = word.indexOf("=");
    if (at > 0) return settingsNamed(entry, word.slice(0, at)).some((value) => sameValue(value, word.slice(at + 1)));
    const all = [entry.id, entry.state, entry.model, entry.data, entry.strategy,
                 ...Object.entries(object(entry.settings)).map(([name, value]) => `${name}=${value}`)];
    return all.some((one) => text(one).toLowerCase().includes(word.toLowerCase()));
  });
}

function filtered() {
  const words = board.filter.split(/\s+/).filter(Boolean);
  const found = [...board.entries.values()].filter((entry) => matches(entry, words));
  return board.order ? sortedRows(found, board.order) : found;
}

/** The row of a run; the same element as before unless something in it has changed. */
function rowOf(entry) {
  const key = `${entry.version} ${board.ticked.has(entry.id)}`;
  const known = board.rows.get(entry.id);
  if (known && known.key === key) return known.row;
  const row = el("tr", {}, LIST_COLUMNS.map((column) =>
    el(column.rowHead ? "th" : "td", { class: column.left || column.rowHead ? "left" : null,
                                       scope: column.rowHead ? "row" : null }, column.cell(entry))));
  board.rows.set(entry.id, { row, key });
  return row;
}

/** Places the rows from `from` on; those below what can be seen a moment later. */
function placeRows(entries, from, filling) {
  if (filling !== board.fillings) return;
  const { body } = board.view, focused = document.activeElement;
  const end = Math.min(entries.length, from + ROWS_AT_ONCE);
  while (body.children.length > entries.length) body.lastChild.remove();
  for (let i = from; i < end; ++i) {
    const row = rowOf(entries[i]);
    if (body.children[i] === row) continue;
    if (body.children[i] && !row.isConnected) body.children[i].replaceWith(row);
    else body.insertBefore(row, body.children[i] ?? null);
  }
  if (end < entries.length) setTimeout(() => placeRows(entries, end, filling));
  if (focused && focused.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

function fillList() {
  const { count, more, empty } = board.view;
  const found = filtered();
  const shown = board.more ? found : found.slice(0, MOST_ROWS_SHOWN);
  placeRows(shown, 0, ++board.fillings);
  more.hidden = shown.length === found.length;
  more.textContent = `Show all ${withCommas(found.length)}`;
  empty.hidden = board.entries.size > 0 || board.reading > 0;
  const status = `${withCommas(found.length)} of ${withCommas(board.entries.size)} runs` +
    (board.reading > 0 ? `, reading ${withCommas(board.reading)} more` : "");
  if (count.textContent !== status) count.textContent = status;
}

function listHeads() {
  const heads = LIST_COLUMNS.map((column) => headCell(column, (chosen, head) => {
    const falling = board.order && board.order.column === chosen && !board.order.falling;
    board.order = { column: chosen, falling: Boolean(falling) };
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    fillList();
  }));
  return heads;
}

function tickShown() {
  for (const entry of filtered().slice(0, MOST_COMPARED)) board.ticked.add(entry.id);
  board.sweep = null;
  fillList();
  showTicked();
}

function tickNone() {
  board.ticked.clear();
  board.sweep = null;
  fillList();
  showTicked();
}

function listSection() {
  const filter = el("input", { type: "search", id: "filter", placeholder: "text, or setting=value", autocomplete: "off", spellcheck: "false" });
  filter.addEventListener("input", () => { board.filter = filter.value; fillList(); });
  const view = { body: el("tbody"), count: el("span", { class: "note", role: "status" }),
    more: el("button", { type: "button", class: "small", hidden: true, onclick: () => { board.more = true; fillList(); } }),
    sweeps: el("div", { class: "controls sweeps", hidden: true }),
    empty: el("p", { class: "lead", hidden: true }, "No runs yet. A run appears here when it begins."),
    message: el("div", { class: "notice", role: "status", hidden: true }) };
  board.view = view;
  return section("list", "Runs", view.message,
    el("div", { class: "controls" }, el("label", {}, "Filter ", filter),
      el("button", { type: "button", class: "small", onclick: tickShown }, "Tick these"),
      el("button", { type: "button", class: "small", onclick: tickNone }, "Tick none"), view.count),
    el("div", { class: "table-box run-list", tabindex: 0, role: "group", "aria-label": "List of runs" },
      el("table", {}, el("thead", {}, el("tr", {}, listHeads())), view.body)),
    view.empty, view.more, view.sweeps);
}

/** A button per sweep, which shows its ranking and its runs. */
function fillSweeps(sweeps) {
  if (sweeps.join("\n") === board.sweeps.join("\n")) return;
  board.sweeps = sweeps;
  board.view.sweeps.hidden = sweeps.length === 0;
  board.view.sweeps.replaceChildren(el("span", {}, "Sweeps "), ...sweeps.slice(0, 100).map((id) =>
    el("button", { type: "button", class: "small", "aria-label": "Show the sweep " + id, onclick: () => showSweep(id) }, id)));
}

function say(message) {
  const { message: place } = board.view;
  place.hidden = message === "";
  place.textContent = message;
}

// The loop.

function takeChanges(answer) {
  if (answer.complete) {
    const there = new Set(list(answer.runs).map((run) => text(run.id)));
    for (const id of board.entries.keys()) if (!there.has(id)) forgetRun(id);
  }
  for (const id of list(answer.removed)) forgetRun(id);
  for (const entry of list(answer.runs)) board.entries.set(text(entry.id), { ...object(entry), id: text(entry.id) });
  board.version = answer.version;
  board.reading = number(answer.reading) ?? 0;
  fillSweeps(list(answer.sweeps).map(text));
  fillList();
  return list(answer.runs).map((entry) => text(entry.id)).filter((id) => board.shown.has(id));
}

function forgetRun(id) {
  board.entries.delete(id);
  board.rows.delete(id);
}

function tickFromAddress() {
  const asked = new URLSearchParams(location.search);
  for (const id of asked.getAll("run")) board.ticked.add(id);
  board.sweep = asked.get("sweep");
}

/** Ticked runs of the address appear as soon as the list knows them. */
function showMissing() {
  if (board.sweep && board.reading === 0) return board.sweeps.includes(board.sweep) ? showSweep(board.sweep) : null;
  const wanted = [...board.ticked].filter((id) => board.entries.has(id) && !board.shown.has(id));
  return wanted.length > 0 ? showTicked() : null;
}

async function follow() {
  let first = true;
  for (;;) {
    const started = performance.now();
    try {
      const changed = takeChanges(object(await getJson("api/runs?since=" + board.version)));
      if (first) await showMissing();
      else if (changed.length > 0) await refreshShown(changed);
      first = first && board.reading > 0;
      board.view.offline && say("");
      board.view.offline = false;
    } catch (error) {
      board.view.offline = true;
      say(`The board does not answer (${error.message}). The page shows what it last said.`);
    }
    // A slow answer is asked for less often.
    const took = performance.now() - started;
    await pause(document.hidden ? 10000 : Math.max(board.reading > 0 ? 300 : 1500, 3 * took));
  }
}

function startBoard() {
  board.listSection = listSection();
  board.place = el("div", { id: "shown" });
  document.getElementById("content").replaceChildren(board.listSection, board.place);
  document.getElementById("footer").replaceChildren(`Served by convoy ${text(page.version)}. It is read from ${text(page.live.folder)}.`);
  fillNavigation([board.listSection]);
  page.onZoom = fetchZoomed;
  tickFromAddress();
  follow();
}

if (page.live) startBoard();
