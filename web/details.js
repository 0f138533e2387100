// SPDX-License-Identifier: Apache-2.0
//
// What a run's page shows besides curves: classes, time, ranks, network.

function evaluation(run) {
  const found = object(run.evaluation);
  const classes = list(found.classes).map(object);
  if (classes.length === 0) return null;
  const split = splitName(text(found.split) || "test");
  return section("classes", "Classes",
    el("p", { class: "lead" }, `${percent(found.accuracy)} of ${withCommas(found.total)} ${split} samples are correct.`),
    el("div", { class: "grid" }, classTable(found, classes), confusionCard(found, classes)),
    confusedTable(found));
}

function classTable(found, classes) {
  const average = (value, name) => ({ ...object(value), name });
  const columns = [{ head: "Class", rowHead: true, cell: (c) => text(c.name), sort: (c) => text(c.name) },
    { head: "Precision", cell: (c) => meter(c.precision), sort: (c) => number(c.precision) },
    { head: "Recall", cell: (c) => meter(c.recall), sort: (c) => number(c.recall) },
    { head: "F1", cell: (c) => meter(c.f1), sort: (c) => number(c.f1) },
    { head: "Support", cell: (c) => withCommas(c.support), sort: (c) => number(c.support) }];
  const rows = classes.length > 1000 ? classes.slice(0, 1000) : classes;
  return table(columns, [...rows, average(found.macro_average, "macro average"), average(found.weighted_average, "weighted average")],
    { caption: "By class" });
}

/** A share from 0 to 1 as a number over a bar. */
function meter(value) {
  const bar = el("span", { class: "meter", "aria-hidden": "true" });
  bar.style.width = Math.max(0, Math.min(1, number(value) ?? 0)) * 100 + "%";
  return el("span", { class: "metered" }, bar, el("span", {}, isNumber(value) ? value.toFixed(3) : "\u2013"));
}

function confusedTable(found) {
  const pairs = list(found.most_confused).map(object).slice(0, 10);
  if (pairs.length === 0) return null;
  const name = (value) => String(value ?? "");
  return table([{ head: "True class", rowHead: true, cell: (p) => name(p.true) },
                { head: "Predicted as", left: true, cell: (p) => name(p.predicted) },
                { head: "Samples", cell: (p) => withCommas(p.count) },
                { head: "Of the true class", cell: (p) => percent(p.share, 1) }],
    pairs, { caption: "Most often confused" });
}

function confusionCard(found, classes) {
  const matrix = list(found.confusion_matrix).map(list);
  if (matrix.length !== classes.length || matrix.length === 0) return null;
  const names = classes.map((c) => text(c.name));
  const parts = chartCard("confusion", "Confusion matrix", "Rows are true classes, columns predicted ones; colour is the share of the row.");
  parts.plot.classList.add("tall");
  numbersButton(parts, () => table([{ head: "true \\ predicted", rowHead: true, cell: (r) => names[r] },
    ...names.map((name, c) => ({ head: name, cell: (r) => withCommas(matrix[r][c]) }))],
    names.map((_, r) => r), { label: "Confusion matrix" }));
  if (!hasCharts()) {
    parts.plot.replaceWith(pictureOf("confusion", "Confusion matrix") || el("p", { class: "note" }, "See the numbers."));
    return parts.card;
  }
  startDrawing(parts, () => confusionOption(matrix, names), "Confusion matrix; the button Numbers shows it as a table");
  return parts.card;
}

function confusionOption(matrix, names) {
  const look = colours();
  const few = names.length <= 12;
  const cells = [];
  matrix.forEach((row, r) => {
    const whole = sum(row) || 1;
    row.forEach((count, c) => {
      const share = (number(count) ?? 0) / whole;
      // Numbers contrast with their cell: the dark end of the scale is the high one when it is light, and the other way around.
      cells.push({ value: [c, r, share, number(count) ?? 0], label: { color: share > 0.5 ? look.ground : look.text } });
    });
  });
  const axis = { type: "category", data: names, axisLine: { show: false }, axisTick: { show: false },
                 axisLabel: { color: look.text, fontSize: 11, hideOverlap: true, width: 90, overflow: "truncate" },
                 nameTextStyle: { color: look.text } };
  return { animation: false, grid: { left: 8, right: 8, top: 8, bottom: 8, containLabel: true },
    xAxis: { ...axis,
             axisLabel: { ...axis.axisLabel, rotate: names.some((n) => n.length > 3) ? 45 : 0 } },
    yAxis: { ...axis, inverse: true },
    visualMap: { show: false, min: 0, max: 1, dimension: 2, inRange: { color: [look.low, look.high] } },
    tooltip: { confine: true, formatter: (p) => hoverText(`${names[p.value[1]]} as ${names[p.value[0]]}: ${withCommas(p.value[3])} (${percent(p.value[2], 1)})`) },
    series: [{ type: "heatmap", data: cells,
      label: { show: few, fontSize: 11, formatter: (p) => (p.value[3] > 0 ? String(p.value[3]) : "") },
      itemStyle: { borderWidth: 1, borderColor: look.ground } }] };
}

/** ECharts shows an element as it is, and would read a text as markup. */
function hoverText(content) {
  return el("span", {}, content);
}

const TIMES = [["computing", "Computing"], ["communicating", "Waiting for other ranks"], ["data", "Waiting for data"],
               ["evaluating", "Evaluating"], ["checkpointing", "Checkpointing"], ["other", "Other"]];

/** Where the time of the run went, in seconds, as the log has it. */
function timeParts(summary) {
  const seconds = object(summary.seconds);
  const of = (name) => number(seconds[name]) ?? 0;
  const waiting = of("exposed_communication") + of("waiting_for_data");
  const parts = { computing: Math.max(0, of("training") - waiting), communicating: of("exposed_communication"),
                  data: of("waiting_for_data"), evaluating: of("evaluating"), checkpointing: of("checkpointing") };
  parts.other = Math.max(0, of("total") - of("training") - parts.evaluating - parts.checkpointing);
  return { parts, total: of("total") };
}

function timing(run) {
  const summary = object(run.summary);
  const { parts, total } = timeParts(summary);
  const content = [];
  if (total > 0) content.push(timeCard(parts, total));
  const ranks = rankTable(summary);
  if (ranks) content.push(ranks);
  const view = newView();
  const label = ["ps_async", "ps_sync"].includes(summary.strategy) ? "worker" : "rank";
  const made = [{ id: "own-compute", title: "Own compute per step", name: "perf/own_ms" },
                { id: "exposed", title: "Waiting for others per step", name: "comm/exposed_ms" }]
    .filter((spec) => rankSeries(run, spec.name).length > 1).map((spec) => rankChart(run, view, { ...spec, label, format: "ms" }));
  if (made.length > 0) {
    content.push(viewControls(view, () => made.forEach(resetAndRefresh)),
      el("div", { class: "grid" }, made.map((chart) => chart.parts.card)));
  }
  return section("time", "Time", content);
}

function timeCard(parts, total) {
  const shown = TIMES.filter(([key]) => parts[key] / total >= 0.0005);
  const bar = el("div", { class: "stack", "aria-hidden": "true" }, shown.map(([key], index) => {
    const part = el("div", { class: "stack-part", "data-colour": index });
    part.style.width = 100 * parts[key] / total + "%";
    return part;
  }));
  const rows = el("dl", { class: "stack-legend" }, shown.map(([key, label], index) => el("div", {},
    el("dt", {}, el("span", { class: "square", "data-colour": index, "aria-hidden": "true" }), label),
    el("dd", {}, duration(parts[key]), el("span", { class: "note" }, " " + percent(parts[key] / total, 1))))));
  return el("div", { class: "card" }, el("h3", {}, `Where ${duration(total)} went`), bar, rows);
}

function rankTable(summary) {
  const ranks = list(summary.rank_ms).map(object);
  if (ranks.length < 2) return null;
  const traffic = list(summary.communication).map(object), memory = list(summary.peak_rss_bytes);
  const served = ["ps_async", "ps_sync"].includes(summary.strategy);
  const rows = ranks.map((rank, index) => ({ ...rank, index, sent: served ? null : number(object(traffic[index]).bytes_sent),
                                             memory: served ? null : number(memory[index]) }));
  const columns = [{ head: served ? "Worker" : "Rank", rowHead: true, cell: (r) => r.index },
    { head: "Own compute", cell: (r) => milliseconds(r.own), sort: (r) => number(r.own) },
    { head: "Waiting for data", cell: (r) => milliseconds(r.waiting_for_data), sort: (r) => number(r.waiting_for_data) },
    { head: "Waiting for ranks", cell: (r) => milliseconds(r.exposed_communication), sort: (r) => number(r.exposed_communication) },
    { head: "Injected in all", cell: (r) => duration((number(r.injected_in_all) ?? 0) / 1e3), sort: (r) => number(r.injected_in_all) },
    served ? null : { head: "Sent", cell: (r) => bytes(r.sent), sort: (r) => r.sent },
    served ? null : { head: "Peak memory", cell: (r) => bytes(r.memory), sort: (r) => r.memory }].filter(Boolean);
  const slowest = text(summary.slowest);
  return [el("p", { class: slowest ? "notice" : "note" }, slowest || `No ${served ? "worker" : "rank"} is slow.`),
          table(columns, rows, { caption: "Medians per step" })];
}

/** One line per rank. */
function rankChart(run, view, spec) {
  const series = rankSeries(run, spec.name).map((one) => ({ name: (spec.label || "rank") + " " + one.rank, run, series: one, smooth: !spec.scatter && !spec.byTime,
                                                            scatter: spec.scatter, colour: one.rank }));
  if (series.length === 0) return null;
  return lineChart({ fromZero: true, ...spec, series, noLegend: series.length < 2,
    view: { get kind() { return view.kind; }, get smoothing() { return view.smoothing; }, get log() { return view.log; }, hidden: view.hidden },
    onToggle: spec.onToggle });
}

function resources(run) {
  const view = newView();
  view.smoothing = 0;
  const specs = [{ id: "cpu", title: "CPU", note: "Percent of one core", name: "cpu/percent" },
                 { id: "memory", title: "Memory", note: "Resident", name: "mem/resident_bytes", format: "bytes" },
                 { id: "network-sent", title: "Sent", name: "net/sent_bytes_per_second", format: "rate" },
                 { id: "network-received", title: "Received", name: "net/received_bytes_per_second", format: "rate" }];
  const made = [];
  const refreshAll = () => made.forEach((chart) => chart.refresh());
  const isWorthIt = (series) => list(series.y).length > 1 && sum(list(series.y)) > 0;
  for (const spec of specs) {
    if (rankSeries(run, spec.name).some(isWorthIt)) made.push(rankChart(run, view, { ...spec, byTime: true, onToggle: refreshAll }));
  }
  if (made.length === 0) return null;
  return section("resources", "Resources", el("p", { class: "note lead" }, "Every rank, about once per second."),
    el("div", { class: "grid" }, made.map((chart) => chart.parts.card)));
}

function asynchrony(run) {
  const staleness = object(object(run.summary).staleness);
  const view = newView();
  view.smoothing = 0;
  const lines = curveLines(run, [["staleness/mean", "mean", true], ["staleness/max", "largest", true]]);
  if (lines.length === 0 && !isNumber(staleness.mean)) return null;
  const made = [];
  if (lines.length > 0) made.push(lineChart({ id: "staleness", title: "Staleness", note: "Updates between a worker's pull and its push", series: lines, view, fromZero: true }));
  const pushes = pushChart(run, view);
  if (pushes) made.push(pushes);
  return section("asynchrony", "Asynchrony",
    isNumber(staleness.mean) ? el("p", { class: "lead" }, `${withCommas(staleness.updates)} updates, mean staleness ${short(staleness.mean)}, at most ${short(staleness.max)}.`) : null,
    viewControls(view, () => made.forEach(resetAndRefresh)),
    el("div", { class: "grid" }, histogramCard(staleness), made.map((chart) => chart.parts.card)), workerTable(staleness));
}

/** Who pushed when: a dot per record in which a worker pushed. */
function pushChart(run, view) {
  const workers = rankSeries(run, "perf/own_ms");
  if (workers.length < 2) return null;
  const series = workers.map((one) => ({ name: "worker " + one.rank, run, scatter: true, colour: one.rank,
    series: { x: one.x, y: list(one.x).map(() => one.rank) } }));
  return lineChart({ id: "pushes", title: "Who pushed when", note: "A dot: the worker has pushed since the last record", series, canLog: false, wholeNumbers: true,
    view: { get kind() { return view.kind; }, smoothing: 0, log: false, hidden: new Set() }, fromZero: true });
}

function histogramCard(staleness) {
  const bins = list(staleness.histogram).map(object);
  if (bins.length === 0) return null;
  const most = Math.max(...bins.map((bin) => number(bin.updates) ?? 0), 1);
  return el("div", { class: "card" }, el("h3", {}, "How stale updates were"),
    el("div", { class: "bars" }, table([
      { head: "Staleness", rowHead: true, cell: (b) => (b.from === b.to ? b.from : `${b.from} to ${b.to}`) },
      { head: "Updates", cell: (b) => withCommas(b.updates) },
      { head: "Beside the others", left: true, cell: (b) => {
        const bar = el("span", { class: "bar", "aria-hidden": "true" });
        bar.style.width = 100 * (number(b.updates) ?? 0) / most + "%";
        return bar;
      } }], bins, { label: "Updates by staleness" })));
}

function workerTable(staleness) {
  const workers = list(staleness.workers).map((worker, index) => ({ ...object(worker), index }));
  if (workers.length === 0) return null;
  return table([{ head: "Worker", rowHead: true, cell: (w) => w.index },
                { head: "Updates", cell: (w) => withCommas(w.updates), sort: (w) => number(w.updates) },
                { head: "Mean staleness", cell: (w) => short(w.mean), sort: (w) => number(w.mean) },
                { head: "Largest", cell: (w) => short(w.max), sort: (w) => number(w.max) }], workers, { caption: "By worker" });
}

function modelSection(run) {
  const model = object(run.model);
  const layers = list(model.layers).map((layer, index) => ({ ...object(layer), index }));
  if (layers.length === 0) return null;
  const shape = (value) => list(value).join(" x ");
  const flops = sum(layers.map((l) => l.forward_flops)) || 1, parameters = sum(layers.map((l) => l.parameters)) || 1;
  const columns = [{ head: "#", cell: (l) => l.index, sort: (l) => l.index },
    { head: "Name", rowHead: true, cell: (l) => text(l.name) || "\u2013" }, { head: "Layer", left: true, cell: (l) => text(l.layer) },
    { head: "Reads", left: true, cell: (l) => sourcesText(l) },
    { head: "Output", cell: (l) => shape(l.output) },
    { head: "Parameters", cell: (l) => shareCell(l.parameters, parameters, withCommas), sort: (l) => number(l.parameters) },
    { head: "FLOPs", cell: (l) => shareCell(l.forward_flops, flops, large), sort: (l) => number(l.forward_flops) },
    { head: "Activations", cell: (l) => bytes(l.activation_bytes), sort: (l) => number(l.activation_bytes) }];
  return section("model", "Model",
    el("p", { class: "lead" }, `${text(model.name)}: ${layers.length} layers, ${withCommas(parameters)} parameters, ${large(flops)}FLOPs per image forward, input ${shape(model.input)}.`),
    graphCard(layers, model), table(columns, layers, { caption: "Layers, with the cost of one image's forward pass" }));
}

function sourcesText(layer) {
  return list(layer.sources).map((s) => (s < 0 ? "input" : "#" + s)).join(", ");
}

function shareCell(value, whole, format) {
  const bar = el("span", { class: "meter", "aria-hidden": "true" });
  bar.style.width = 100 * (number(value) ?? 0) / whole + "%";
  return el("span", { class: "metered" }, bar, el("span", {}, value ? format(value) : "\u2013"));
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  append(element, children);
  return element;
}

/** Layers that only pass on what one layer gives are joined with it. */
function graphNodes(layers) {
  const readers = new Map();
  for (const layer of layers) for (const s of list(layer.sources)) readers.set(s, (readers.get(s) || 0) + 1);
  const node = new Map();  // layer -> its node
  const nodes = [];
  for (const layer of layers) {
    const sources = list(layer.sources);
    const before = sources.length === 1 ? node.get(sources[0]) : null;
    if (before && !text(layer.name) && readers.get(sources[0]) === 1) {
      before.labels.push(text(layer.layer));
      node.set(layer.index, before);
      continue;
    }
    const own = { labels: [text(layer.layer)], name: text(layer.name), layer, sources: sources.map((s) => node.get(s)).filter(Boolean), number: nodes.length };
    nodes.push(own);
    node.set(layer.index, own);
  }
  return nodes;
}

/** The graph as a column of boxes; connections that skip boxes are arcs at the right. */
function graphCard(layers) {
  const nodes = graphNodes(layers);
  if (nodes.length < 2 || nodes.length > 400) return null;
  const height = 34, gap = 14, width = 250, step = height + gap;
  const drawing = svg("svg", { viewBox: `0 0 ${width + 110} ${nodes.length * step + 4}`, width: width + 110, height: nodes.length * step + 4,
                               role: "img", "aria-label": `Graph of ${layers.length} layers; the table below lists them` });
  for (const one of nodes) {
    for (const source of one.sources) drawing.append(edge(source.number, one.number, step, height, width));
  }
  for (const one of nodes) {
    const y = one.number * step + 2;
    const label = one.labels.join(" + ");
    drawing.append(svg("g", {}, svg("rect", { class: "node", x: 2, y, width: width - 4, height, rx: 7 }),
      svg("text", { class: "node-name", x: 12, y: y + (one.name ? 14 : 21) }, cut(one.name || label, 34)),
      one.name ? svg("text", { class: "node-kind", x: 12, y: y + 28 }, cut(label, 40)) : null,
      svg("title", {}, `${one.name} ${label}`)));
  }
  return el("details", { class: "card", open: nodes.length <= 24 }, el("summary", {}, "Graph"),
    el("div", { class: "graph", tabindex: 0, role: "group", "aria-label": "Graph of the model" }, drawing));
}

const cut = (value, most) => (value.length > most ? value.slice(0, most - 1) + "\u2026" : value);

function edge(from, to, step, height, width) {
  const top = from * step + 2 + height, bottom = to * step + 2;
  if (to === from + 1) return svg("path", { class: "edge", d: `M ${width / 2} ${top} V ${bottom}` });
  const bend = Math.min(100, 18 + 9 * (to - from));
  const y0 = top - height / 2, y1 = bottom + height / 2;
  return svg("path", { class: "edge", d: `M ${width - 2} ${y0} C ${width + bend} ${y0}, ${width + bend} ${y1}, ${width - 2} ${y1}` });
}
