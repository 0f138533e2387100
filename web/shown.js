// SPDX-License-Identifier: Apache-2.0
//
// The lower part of the live page: the runs that are ticked, or a sweep, whose curves and
// numbers grow while they train.

const MOST_COMPARED = 100;
const MANY_POINTS = 20000;

const asQuery = (name, values) => values.map((value) => `${name}=${encodeURIComponent(value)}`);

/** The curves of `only`, of the runs that are shown together; all of them without it. */
function runsPath(ids, only) {
  const points = "points=" + pointsFor(ids.length);
  if (ids.length === 1 && !board.sweep) return `api/run/${idPath(ids[0])}?${points}`;
  return "api/page?" + [...asQuery("run", ids), ...asQuery("only", only || []), ...asQuery("sweep", board.sweep ? [board.sweep] : []), points].join("&");
}

async function fetchRuns(ids, only) {
  const answer = object(await getJson(runsPath(ids, only)));
  if (!Array.isArray(answer.runs)) return { runs: [answer], comparison: null, sweep: null };
  return { runs: answer.runs.map(object), comparison: answer.comparison, sweep: answer.sweep };
}

/** Many curves of few points are as good to look at, and arrive sooner. */
const pointsFor = (count) => Math.max(100, Math.min(2000, Math.round(10000 / Math.max(1, count))));

function keepAddress() {
  const query = (board.sweep ? asQuery("sweep", [board.sweep]) : asQuery("run", [...board.ticked].slice(0, 20))).join("&");
  history.replaceState(null, "", query ? "?" + query : location.pathname);
}

/** The ids of a sweep's runs, which are in its folder; those of the folder itself have
 *  ids without it. */
function runsOfSweep(sweep) {
  const below = [...board.entries.keys()].filter((id) => id.startsWith(sweep + "/"));
  return below.length > 0 ? below : [...board.entries.keys()].filter((id) => !id.includes("/"));
}

function showSweep(sweep) {
  board.ticked = new Set(runsOfSweep(sweep));
  board.sweep = sweep;
  fillList();
  return showTicked();
}

async function showTicked() {
  keepAddress();
  const generation = ++board.generation;
  const ids = [...board.ticked].filter((id) => board.entries.has(id)).slice(0, MOST_COMPARED);
  try {
    const found = ids.length === 0 ? { runs: [] } : await fetchRuns(ids);
    if (generation !== board.generation) return;
    board.shown = new Map(found.runs.map((run) => [text(run.id), run]));
    board.comparison = found.comparison;
    board.study = found.sweep;
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
  const sections = (runs.length === 0 ? [] : runs.length === 1 && !board.sweep ? runSections(runs[0])
    : [...comparisonSections(shownData()), board.study ? null : parallelSection(runs)]).filter(Boolean);
  const name = board.sweep || (runs.length === 1 ? text(runs[0].id) : "");
  board.place.replaceChildren(...(name ? [el("h2", { class: "shown-run" }, name)] : []), ...sections);
  fillNavigation([board.listSection, ...sections]);
}

const shownData = () => ({ runs: [...board.shown.values()], comparison: board.comparison, sweep: board.study });

/** Tables and bars with the new numbers; curves stay, and so does what has the focus. */
function refreshComparison() {
  const data = shownData(), rows = comparedOf(data);
  for (const fresh of [studySection(data), tableSection(data, rows), speedSection(rows), differencesSection(data, rows)]) {
    const old = fresh && document.querySelector(`#shown > #${fresh.id}`);
    if (old && !old.contains(document.activeElement)) old.replaceWith(fresh);
  }
  document.getElementById("target")?.refresh();
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
  const fresh = await fetchRuns([...board.shown.keys()], ids);
  if (generation !== board.generation) return;
  board.comparison = fresh.comparison;
  board.study = fresh.sweep;
  fresh.runs.forEach(prepareRun);
  const same = fresh.runs.every((run) => board.shown.has(text(run.id)) && adopt(board.shown.get(text(run.id)), run));
  if (!same) {
    for (const run of fresh.runs) board.shown.set(text(run.id), run);
    return buildSections();
  }
  for (const chart of lineCharts) chart.refresh();
  if (fresh.comparison) return refreshComparison();
  document.getElementById("overview")?.replaceWith(overview(board.shown.values().next().value));
}

/** A range of steps in full, when a chart is zoomed; everything, thinned, when it is not. */
async function fetchZoomed(chart, range) {
  const turn = chart.turn = (chart.turn || 0) + 1;
  for (const line of chart.spec.series) {
    line.series = line.whole || line.series;
    line.whole = null;
  }
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
