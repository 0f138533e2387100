// SPDX-License-Identifier: Apache-2.0
//
// The live page (convoy board): a list of runs that grows, and below it the page of those
// that are ticked, whose curves grow while they train.

const MOST_ROWS_SHOWN = 500;
const MOST_COMPARED = 100;
const MANY_POINTS = 20000;

const board = {
  entries: new Map(),   // by id: what the list shows of a run
  ticked: new Set(),    // ids, in the order of ticking
  shown: new Map(),     // by id: page data of the runs below the list
  rows: new Map(),      // by id: {row, key}
  version: 0, reading: 0, order: null, filter: "", more: false,
  comparison: null,     // of the shown runs, if they are several
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
    showTicked();
  });
  return box;
}

function nameCell(entry) {
  return el("button", { type: "button", class: "run-name", onclick: () => {
    board.ticked = new Set([entry.id]);
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

function fillList() {
  const { body, count, more, empty } = board.view;
  const found = filtered();
  const shown = board.more ? found : found.slice(0, MOST_ROWS_SHOWN);
  const rows = shown.map(rowOf);
  const focused = document.activeElement;
  if (rows.length !== body.children.length || rows.some((row, i) => body.children[i] !== row)) {
    body.replaceChildren(...rows);
    if (focused && focused.isConnected && focused !== document.activeElement) focused.focus();
  }
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
  fillList();
  showTicked();
}

function tickNone() {
  board.ticked.clear();
  fillList();
  showTicked();
}

function listSection() {
  const filter = el("input", { type: "search", id: "filter", placeholder: "text, or setting=value", autocomplete: "off", spellcheck: "false" });
  filter.addEventListener("input", () => { board.filter = filter.value; fillList(); });
  const view = { body: el("tbody"), count: el("span", { class: "note", role: "status" }),
    more: el("button", { type: "button", class: "small", hidden: true, onclick: () => { board.more = true; fillList(); } }),
    empty: el("p", { class: "lead", hidden: true }, "No runs yet. A run appears here when it begins."),
    message: el("div", { class: "notice", role: "status", hidden: true }) };
  board.view = view;
  return section("runs", "Runs", view.message,
    el("div", { class: "controls" }, el("label", {}, "Filter ", filter),
      el("button", { type: "button", class: "small", onclick: tickShown }, "Tick these"),
      el("button", { type: "button", class: "small", onclick: tickNone }, "Tick none"), view.count),
    el("div", { class: "table-box run-list", tabindex: 0, role: "region", "aria-label": "Runs" },
      el("table", {}, el("thead", {}, el("tr", {}, listHeads())), view.body)),
    view.empty, view.more);
}

function say(message) {
  const { message: place } = board.view;
  place.hidden = message === "";
  place.textContent = message;
}

// What is ticked.

function runsPath(ids, query = "") {
  if (ids.length === 1 && board.ticked.size === 1) return "api/run/" + idPath(ids[0]) + "?" + query;
  return "api/page?" + ids.map((id) => "run=" + encodeURIComponent(id)).join("&") + "&" + query;
}

async function fetchRuns(ids, query) {
  const answer = await getJson(runsPath(ids, query));
  if (answer.comparison && ids.length === board.ticked.size) board.comparison = answer.comparison;
  return (Array.isArray(answer.runs) ? answer.runs : [answer]).map(object);
}

/** Many curves of few points are as good to look at, and arrive sooner. */
const pointsFor = (count) => "points=" + Math.max(100, Math.min(2000, Math.round(60000 / Math.max(1, count))));

function keepAddress() {
  const query = [...board.ticked].slice(0, 20).map((id) => "run=" + encodeURIComponent(id)).join("&");
  history.replaceState(null, "", query ? "?" + query : location.pathname);
}

async function showTicked() {
  keepAddress();
  const generation = ++board.generation;
  const ids = [...board.ticked].filter((id) => board.entries.has(id)).slice(0, MOST_COMPARED);
  try {
    const runs = ids.length === 0 ? [] : await fetchRuns(ids, pointsFor(ids.length));
    if (generation !== board.generation) return;
    board.shown = new Map(runs.map((run) => [text(run.id), run]));
    buildSections();
    say("");
  } catch (error) {
    if (generation === board.generation) say("The board did not answer: " + error.message);
  }
}

function forgetCharts() {
  for (const chart of charts.splice(0)) chart.instance?.dispose();
  for (const element of watched.keys()) watcher?.unobserve(element);
  watched.clear();
  lineCharts.length = 0;
}

function buildSections() {
  forgetCharts();
  const runs = [...board.shown.values()];
  const sections = (runs.length === 0 ? [] : runs.length === 1 ? runSections(runs[0])
    : [...comparisonSections({ runs, comparison: board.comparison, sweep: null }), parallelSection(runs)]).filter(Boolean);
  board.place.replaceChildren(...(runs.length === 1 ? [el("h2", { class: "shown-run" }, text(runs[0].id))] : []), ...sections);
  fillNavigation([board.listSection, ...sections]);
}

const curveKeys = (run) => list(run.series).map((series) => `${series.name} ${series.rank}`).join("\n");

/** Takes over the new points of a run into the curves that are drawn; false if there are
 *  other curves than before. */
function adopt(run, fresh) {
  if (curveKeys(run) !== curveKeys(fresh)) return false;
  list(run.series).forEach((series, i) => Object.assign(series, { x: fresh.series[i].x, y: fresh.series[i].y }));
  Object.assign(run, { ...fresh, series: run.series });
  return true;
}

async function refreshShown(ids) {
  const generation = board.generation;
  const fresh = await fetchRuns(ids, pointsFor(board.shown.size));
  if (generation !== board.generation) return;
  const same = fresh.every((run) => board.shown.has(text(run.id)) && adopt(board.shown.get(text(run.id)), run));
  if (!same) {
    for (const run of fresh) board.shown.set(text(run.id), run);
    return buildSections();
  }
  for (const chart of lineCharts) chart.refresh();
  const [only] = board.shown.size === 1 ? board.shown.values() : [];
  if (only) document.getElementById("overview")?.replaceWith(overview(only));
}

/** A range of steps in full, when a chart is zoomed; everything, thinned, when it is not. */
async function fetchZoomed(chart, range) {
  const turn = chart.turn = (chart.turn || 0) + 1;
  for (const line of chart.spec.series) line.series = line.whole || line.series;
  if (range === null || chart.spec.byTime) return chart.refresh();
  await pause(120);  // a wheel or a key zooms several times
  const kind = chart.spec.view.kind;
  for (const run of new Set(chart.spec.series.map((line) => line.run))) {
    if (turn !== chart.turn) return;
    const places = object(run.places);
    const [from, to] = kind === "step" ? range
      : range.map((x) => interpolated(list(places[kind]), list(places.step), x));
    const fresh = object(await getJson(`api/run/${idPath(text(run.id))}?points=${MANY_POINTS}` +
      `&from=${Math.max(0, Math.floor(from))}&to=${Math.ceil(to)}`).catch(() => null));
    if (turn !== chart.turn) return;
    for (const line of chart.spec.series.filter((one) => one.run === run)) {
      const found = seriesOf(fresh, line.series.name, line.series.rank);
      if (!found || list(found.x).length < 2) continue;
      line.whole = line.series;
      line.series = found;
    }
  }
  chart.refresh();
}

// A sweep: one axis per setting that differs, and one per score.

function parallelAxes(entries) {
  const names = new Set(entries.flatMap((entry) => Object.keys(object(entry.settings))));
  const valueOf = (entry, name) => object(entry.settings)[name] ?? object(page.live.defaults)[name] ?? "";
  const axes = [...names].filter((name) => new Set(entries.map((entry) => valueOf(entry, name))).size > 1)
    .map((name) => ({ name, value: (entry) => valueOf(entry, name) }));
  for (const [split, label] of [["val", "validation accuracy"], ["test", "test accuracy"]]) {
    if (entries.some((entry) => listedScore(entry, split, "accuracy") !== null)) {
      axes.push({ name: label, value: (entry) => listedScore(entry, split, "accuracy"), score: true });
    }
  }
  return axes;
}

function parallelAxis(axis, index, entries, look) {
  const values = entries.map(axis.value);
  const numeric = values.every((value) => value !== "" && value !== null && Number.isFinite(Number(value)));
  const common = { dim: index, name: axis.name, nameTextStyle: { color: look.text, fontSize: 11 },
                   axisLine: { lineStyle: { color: look.line } }, axisLabel: { color: look.text, fontSize: 11 } };
  if (!numeric) return { ...common, type: "category", data: [...new Set(values.map(String))] };
  const numbers = values.map(Number);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const wide = low > 0 && high / low >= 50 && !axis.score;
  return { ...common, type: wide ? "log" : "value", scale: true,
           axisLabel: { ...common.axisLabel, formatter: (v) => (axis.score ? percent(v, 1) : short(v)) } };
}

function parallelSection(runs) {
  const entries = runs.map((run) => board.entries.get(text(run.id))).filter(Boolean);
  const axes = parallelAxes(entries);
  if (entries.length < 3 || axes.length < 2 || !hasCharts()) return null;
  const parts = chartCard("parallel", "Settings and scores", "A line is a run; a darker line has the better score.");
  parts.plot.classList.add("tall");
  startDrawing(parts, () => listedParallelOption(entries, axes), "Settings and scores of " + entries.length + " runs");
  const columns = [{ head: "Run", rowHead: true, sort: (e) => e.id, cell: (e) => e.id },
    ...axes.map((axis) => ({ head: axis.name, sort: (e) => axis.value(e),
                             cell: (e) => (axis.score ? percent(axis.value(e)) : String(axis.value(e))) }))];
  numbersButton(parts, () => table(columns, entries, { label: "Settings and scores" }));
  return section("sweep", "Settings and scores", parts.card);
}

function listedParallelOption(entries, axes) {
  const look = colours();
  const last = axes[axes.length - 1];
  const scores = entries.map((entry) => (last.score ? last.value(entry) : null)).filter(isNumber);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  return {
    animation: false, textStyle: { fontFamily: "inherit" },
    parallel: { left: 60, right: 90, top: 40, bottom: 24 },
    parallelAxis: axes.map((axis, index) => parallelAxis(axis, index, entries, look)),
    series: [{ type: "parallel", smooth: false, silent: true,
      data: entries.map((entry) => ({
        value: axes.map((axis) => axis.value(entry)).map((value) => (value === null ? "-" : value)),
        lineStyle: { color: look.palette[0], width: 1.6,
                     opacity: high > low && isNumber(last.value(entry)) ? 0.15 + 0.85 * (last.value(entry) - low) / (high - low) : 0.6 } })) }],
  };
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
  fillList();
  return list(answer.runs).map((entry) => text(entry.id)).filter((id) => board.shown.has(id));
}

function forgetRun(id) {
  board.entries.delete(id);
  board.rows.delete(id);
}

function tickFromAddress() {
  for (const id of new URLSearchParams(location.search).getAll("run")) board.ticked.add(id);
}

/** Ticked runs of the address appear as soon as the list knows them. */
function showMissing() {
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
