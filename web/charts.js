// SPDX-License-Identifier: Apache-2.0
//
// Charts: ECharts draws axes and lines; the cursor, its values and the legend are
// elements of the page, so that mouse, keyboard and screen reader have the same. Without
// ECharts a chart is a picture, if the page has one, and always a table.

const hasCharts = () => typeof echarts !== "undefined";
const charts = [];  // all of this page, to be redrawn when theme or width change
const lineCharts = [];  // those of lines, to be refreshed when their data grow

const PALETTE = {
  light: ["#0b62d6", "#c2410c", "#15803d", "#7c3aed", "#be185d", "#0e7490", "#946200", "#52525b"],
  dark: ["#6cb0ff", "#ff9d5c", "#5fd38a", "#bda2ff", "#ff8cc0", "#4fd1e0", "#e5bd4a", "#b4b4bd"],
};
const DASHES = ["solid", "dashed", "dotted"];

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const isPrinted = () => document.documentElement.dataset.print === "yes";

function colours() {
  const dark = isDark() && !isPrinted();
  return {
    palette: dark ? PALETTE.dark : PALETTE.light,
    text: dark ? "#c9d1d9" : "#3d444d",
    line: dark ? "#3d444d" : "#d1d9e0",
    ground: dark ? "#161b22" : "#ffffff",
    low: dark ? "#16202e" : "#f3f7fd",
    high: dark ? "#6cb0ff" : "#0b4da8",
  };
}

const colourOf = (index) => colours().palette[index % PALETTE.light.length];
const dashOf = (index) => DASHES[Math.floor(index / PALETTE.light.length) % DASHES.length];

/** A card with a heading, buttons and a place for a drawing. */
function chartCard(id, title, note) {
  const plot = el("div", { class: "plot", id: "chart-" + id });
  const card = el("figure", { class: "card chart", "data-chart": id, "aria-label": title },
    el("figcaption", { class: "chart-head" }, el("h3", {}, title),
      note ? el("p", { class: "note" }, note) : null),
    plot);
  return { card, plot, head: card.firstChild };
}

/** A picture in place of a chart; nothing if the page has none. */
function pictureOf(id, title) {
  const source = text(object(page.pictures)[id]);
  if (!source.startsWith("data:image/svg+xml;base64,")) return null;
  return el("img", { class: "picture", src: source, alt: title + " (the table has the numbers)" });
}

/** A button that shows and hides the chart's numbers as a table. */
function numbersButton(parts, makeTable) {
  const place = el("div", { class: "numbers", hidden: true });
  const button = el("button", { type: "button", class: "small", "aria-expanded": "false" }, "Numbers");
  button.addEventListener("click", () => {
    place.hidden = !place.hidden;
    button.setAttribute("aria-expanded", String(!place.hidden));
    place.replaceChildren(...(place.hidden ? [] : [makeTable()]));
  });
  parts.head.append(el("div", { class: "chart-buttons" }, button));
  parts.card.append(place);
  return button;
}

/** `wrap` calls what it is given, with whatever the drawing needs around it. */
function startDrawing(parts, option, title, wrap = (draw) => draw()) {
  const chart = { instance: null, option, plot: parts.plot };
  chart.draw = () => {
    if (!chart.instance) {
      chart.instance = echarts.init(parts.plot, null, { renderer: "canvas" });
    }
    wrap(() => chart.instance.setOption(option(), { notMerge: true }));
  };
  parts.plot.setAttribute("role", "img");
  parts.plot.setAttribute("aria-label", title);
  charts.push(chart);
  whenVisible(parts.plot, chart);
  return chart;
}

/** Charts are drawn when they come near the window: a long page opens at once. */
const watched = new Map();
const watcher = typeof IntersectionObserver === "undefined" ? null
  : new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watcher.unobserve(entry.target);
      watched.get(entry.target)?.draw();
      watched.delete(entry.target);
    }
  }, { rootMargin: "400px" });

function whenVisible(element, chart) {
  if (!watcher) return queueMicrotask(() => chart.draw());
  watched.set(element, chart);
  watcher.observe(element);
}

/** A chart that cannot be seen is drawn again when it can, or after those that can. */
function redraw(chart) {
  if (!chart.instance) return;
  const box = chart.plot.getBoundingClientRect();
  if (!watcher || (box.bottom > 0 && box.top < innerHeight)) chart.draw();
  else whenVisible(chart.plot, chart);
}

function drawAll() {
  for (const [element, chart] of [...watched]) {
    if (element.clientWidth === 0) continue;  // it is hidden
    watcher.unobserve(element);
    watched.delete(element);
    chart.draw();
  }
}

function redrawAll() {
  for (const chart of charts) if (chart.instance) chart.draw();
  document.dispatchEvent(new Event("recolour"));
}

function resizeAll(size) {
  for (const chart of charts) if (chart.instance) chart.instance.resize(size);
}

const FORMATS = { number: short, percent: (v) => percent(v), bytes, rate: (v) => bytes(v) + "/s",
                  ms: milliseconds, seconds: duration };
const AXIS_FORMATS = { number: (v) => (Math.abs(v) >= 1e4 ? large(v) : short(v)),
                       percent: (v) => Number((100 * v).toPrecision(4)) + " %",
                       bytes, rate: (v) => bytes(v) + "/s",
                       ms: (v) => short(v) + " ms", seconds: (v) => short(v) };

/** Distance and end of the ticks, for bytes: round numbers of KiB, MiB, ... */
function byteTicks(chart) {
  if (!["bytes", "rate"].includes(chart.spec.format) || chart.spec.view.log) return {};
  const most = chart.lines.reduce((a, one) => one.ys.reduce((b, y) => (isNumber(y) && y > b ? y : b), a), 0);
  if (most <= 0) return {};
  const unit = Math.pow(1024, Math.floor(Math.log(most) / Math.log(1024)));
  const wanted = most / unit / 5, size = Math.pow(10, Math.floor(Math.log10(wanted)));
  const interval = unit * size * [1, 2, 5, 10].find((one) => one * size >= wanted);
  return { interval, max: interval * Math.ceil(most / interval) };
}

/**
 * Lines over x. `spec`: {id, title, note, format, series: [{name, run, series, smooth,
 * dots, colour, dash, key}], marks(kind): [{x, name}], view: {kind, smoothing, log,
 * hidden: Set}}. The view is shared by the charts of a section; `refresh` follows it.
 */
function lineChart(spec) {
  const parts = chartCard(spec.id, spec.title, spec.note);
  const chart = { spec, parts, lines: [], zoom: null };
  lineCharts.push(chart);
  chart.refresh = () => {
    chart.lines = visibleLines(spec);
    if (chart.drawing) redraw(chart.drawing);
    if (chart.legend) fillLegend(chart);
    if (chart.cursor) chart.cursor.hide();
  };
  numbersButton(parts, () => numbersTable(chart));
  chart.lines = visibleLines(spec);
  if (hasCharts()) {
    chart.drawing = startDrawing(parts, () => lineOption(chart), spec.title);
    addCursor(chart);
    enableZoom(chart);
  } else {
    parts.plot.replaceWith(pictureOf(spec.id, spec.title) || el("p", { class: "note" }, "See the numbers."));
  }
  if (!spec.noLegend && hasCharts()) {
    chart.legend = el("div", { class: "legend", role: "group", "aria-label": "Curves of " + spec.title });
    parts.card.append(chart.legend);
    fillLegend(chart);
  }
  document.addEventListener("recolour", () => chart.legend && fillLegend(chart));
  return chart;
}

const keyOf = (line) => line.key || line.name;

/** What is drawn: points on the chosen axis, smoothed where that makes sense. */
function visibleLines(spec) {
  const kind = spec.byTime ? "seconds" : spec.view.kind;
  return spec.series.filter((line) => !spec.view.hidden.has(keyOf(line))).map((line) => {
    const xs = xValues(line.run, line.series, kind);
    const raw = list(line.series.y);
    const weight = line.smooth ? spec.view.smoothing : 0;
    return { line, xs, raw, ys: smoothed(raw, weight), isSmoothed: weight > 0 };
  });
}

function fillLegend(chart) {
  const { spec } = chart;
  chart.legend.replaceChildren(...spec.series.map((line, index) => {
    const hidden = spec.view.hidden.has(keyOf(line));
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.borderTopColor = colourOf(line.colour ?? index);
    swatch.style.borderTopStyle = line.dash || dashOf(line.colour ?? index);
    return el("button", { type: "button", class: "legend-entry", "aria-pressed": String(!hidden),
                          onclick: () => toggleLine(chart, line) }, swatch, line.name);
  }));
}

function toggleLine(chart, line) {
  const { hidden } = chart.spec.view;
  const key = keyOf(line);
  const at = chart.spec.series.indexOf(line);
  if (hidden.has(key)) hidden.delete(key); else hidden.add(key);
  (chart.spec.onToggle || chart.refresh)();
  chart.legend.children[at]?.focus();
}

function lineSeries(chart) {
  const many = chart.lines.length > 8;
  const series = [];
  for (const { line, xs, raw, ys, isSmoothed } of chart.lines) {
    const at = chart.spec.series.indexOf(line);
    const colour = colourOf(line.colour ?? at);
    const style = { color: colour, type: line.dash || dashOf(line.colour ?? at), width: many ? 1 : 1.8 };
    const common = { type: "line", dimensions: ["x", "y"], silent: true, animation: false, symbol: "circle",
                     itemStyle: { color: colour }, connectNulls: false };
    if (isSmoothed && !many) {
      series.push({ ...common, showSymbol: false, data: pairs(xs, raw),
                    lineStyle: { ...style, opacity: 0.25, width: 1 } });
    }
    const dots = xs.length === 1 || line.scatter || (line.dots && xs.length <= 60);
    series.push({ ...common, showSymbol: dots, symbolSize: line.scatter ? 4 : 6, data: pairs(xs, ys),
                  lineStyle: line.scatter ? { width: 0, opacity: 0 } : style });
  }
  return series;
}

/** x, y, x, y, ...: ECharts copies a list of pairs several times, and such numbers not. */
function pairs(xs, ys) {
  const values = new Float64Array(2 * xs.length);
  for (let i = 0; i < xs.length; ++i) {
    values[2 * i] = xs[i];
    values[2 * i + 1] = isNumber(ys[i]) ? ys[i] : NaN;
  }
  return values;
}

function marksOf(chart, look) {
  const marks = chart.spec.marks ? chart.spec.marks(chart.spec.view.kind) : [];
  if (marks.length === 0) return [];
  return [{ type: "line", data: [], silent: true, markLine: {
    silent: true, symbol: "none", animation: false,
    lineStyle: { color: look.text, type: "dotted", width: 1 },
    label: { color: look.text, fontSize: 11, position: "end", distance: 2, formatter: (p) => p.data.label2 },
    data: marks.map((mark) => ({ xAxis: mark.x, label2: mark.name, label: { align: markAlign(chart, mark.x) } })) } }];
}

/** A mark near an end of the axis has its name inside the frame. */
function markAlign(chart, x) {
  const extent = chart.zoom || extentOf(chart);
  if (!extent) return "center";
  const part = (x - extent[0]) / (extent[1] - extent[0]);
  return part > 0.8 ? "right" : part < 0.2 ? "left" : "center";
}

function lineOption(chart) {
  const look = colours();
  const { spec } = chart;
  const kind = spec.byTime ? "seconds" : spec.view.kind;
  const format = AXIS_FORMATS[spec.format || "number"];
  const axis = { axisLabel: { color: look.text, fontSize: 11, hideOverlap: true },
                 axisLine: { lineStyle: { color: look.line } },
                 splitLine: { lineStyle: { color: look.line, opacity: 0.6 } } };
  return {
    animation: false, textStyle: { fontFamily: "inherit" },
    grid: { left: 8, right: 16, top: chart.spec.marks ? 24 : 14, bottom: 30, containLabel: true },
    xAxis: { ...axis, type: "value", name: spec.byTime ? "seconds since the start" : X_KINDS[kind].label,
             nameLocation: "middle", nameGap: 26, nameTextStyle: { color: look.text, fontSize: 11 },
             scale: true, splitLine: { show: false },
             min: chart.zoom ? chart.zoom[0] : "dataMin", max: chart.zoom ? chart.zoom[1] : "dataMax",
             axisLabel: { ...axis.axisLabel, formatter: (v) => (Math.abs(v) >= 1e4 ? large(v) : short(v)) } },
    yAxis: { ...axis, type: spec.view.log && spec.canLog !== false ? "log" : "value",
             scale: !spec.fromZero, min: spec.fromZero ? 0 : undefined, minInterval: spec.wholeNumbers ? 1 : undefined, ...byteTicks(chart),
             axisLabel: { ...axis.axisLabel, formatter: format } },
    series: [...lineSeries(chart), ...marksOf(chart, look)],
  };
}

/** The index of the x nearest to a place; xs are ascending. */
function nearestIndex(xs, x) {
  let low = 0, high = xs.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle; else high = middle;
  }
  return Math.abs(xs[high] - x) < Math.abs(xs[low] - x) ? high : low;
}

const MOST_READ = 12;  // lines whose values the cursor shows

/** The values at x, nearest to y first if that is given. */
function valuesAt(chart, x, y) {
  const format = FORMATS[chart.spec.format || "number"];
  const found = [];
  for (const one of chart.lines) {
    const i = nearestIndex(one.xs, x);
    if (i < 0 || !isNumber(one.ys[i])) continue;
    found.push({ name: one.line.name, colour: one.line.colour ?? chart.spec.series.indexOf(one.line),
                 x: one.xs[i], value: one.ys[i], shown: format(one.ys[i]) });
  }
  if (found.length > MOST_READ && isNumber(y)) {
    found.sort((a, b) => Math.abs(a.value - y) - Math.abs(b.value - y));
  }
  return found;
}

/** The cursor: a vertical line and the values there, by mouse, touch and arrow keys. */
function addCursor(chart) {
  const { plot, card } = chart.parts;
  const line = el("div", { class: "cursor", hidden: true, "aria-hidden": "true" });
  const box = el("div", { class: "values", hidden: true, "aria-hidden": "true" });
  const spoken = el("div", { class: "sr-only", role: "status" });
  const frame = el("div", { class: "plot-frame", tabindex: 0, role: "application",
                            "aria-roledescription": "chart", "aria-label": chart.spec.title +
    ". Arrow keys move a cursor, plus and minus zoom, 0 shows everything." });
  plot.replaceWith(frame);
  frame.append(plot, line, box);
  card.append(spoken);
  chart.frame = frame;
  let at = null;
  const hide = () => { line.hidden = box.hidden = true; at = null; };
  const show = (x, y, aloud) => {
    const values = valuesAt(chart, x, y);
    if (values.length === 0 || !chart.drawing.instance) return hide();
    const nearest = values.reduce((a, b) => Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a).x;
    at = nearest;
    placeCursor(chart, line, box, nearest, values);
    if (aloud) spoken.textContent = spokenValues(chart, nearest, values);
  };
  chart.cursor = { hide, show, position: () => at };
  frame.addEventListener("pointermove", (event) => {
    const [x, y] = dataAt(chart, event);
    if (x !== null) show(x, y, false);
  });
  frame.addEventListener("pointerleave", hide);
  frame.addEventListener("blur", hide);
  frame.addEventListener("keydown", (event) => chartKey(chart, event));
}

function dataAt(chart, event) {
  const { instance } = chart.drawing;
  if (!instance) return [null, null];
  const box = chart.parts.plot.getBoundingClientRect();
  const point = [event.clientX - box.left, event.clientY - box.top];
  if (!instance.containPixel({ gridIndex: 0 }, point)) return [null, null];
  return instance.convertFromPixel({ gridIndex: 0 }, point);
}

function placeCursor(chart, line, box, x, values) {
  const { instance } = chart.drawing;
  const left = instance.convertToPixel({ xAxisIndex: 0 }, x);
  const width = chart.parts.plot.clientWidth;
  line.hidden = box.hidden = false;
  line.style.left = left + "px";
  const kind = chart.spec.byTime ? "seconds" : chart.spec.view.kind;
  const head = kind === "seconds" ? duration(x) : X_KINDS[kind].label + " " + short(x);
  const rows = values.slice(0, MOST_READ).map((one) => {
    const dot = el("span", { class: "dot" });
    dot.style.background = colourOf(one.colour);
    return el("div", { class: "value-row" }, dot, el("span", { class: "value-name" }, one.name),
      el("b", {}, one.shown));
  });
  if (values.length > MOST_READ) rows.push(el("div", { class: "note" }, `and ${values.length - MOST_READ} more`));
  box.replaceChildren(el("div", { class: "value-head" }, head), ...rows);
  const right = left < width / 2;
  box.style.left = right ? Math.min(left + 12, width - box.offsetWidth) + "px" : "auto";
  box.style.right = right ? "auto" : Math.min(width - left + 12, width - box.offsetWidth) + "px";
}

function spokenValues(chart, x, values) {
  const kind = chart.spec.byTime ? "seconds" : chart.spec.view.kind;
  return `${X_KINDS[kind].label} ${short(x)}: ` +
    values.slice(0, MOST_READ).map((one) => `${one.name} ${one.shown}`).join(", ");
}

function extentOf(chart) {
  let low = Infinity, high = -Infinity;
  for (const { xs } of chart.lines) {
    if (xs.length === 0) continue;
    low = Math.min(low, xs[0]);
    high = Math.max(high, xs[xs.length - 1]);
  }
  return low < high ? [low, high] : null;
}

function chartKey(chart, event) {
  const extent = extentOf(chart);
  if (!extent || event.ctrlKey || event.metaKey || event.altKey) return;
  const [low, high] = chart.zoom || extent;
  const here = chart.cursor.position() ?? low;
  const moves = { ArrowLeft: () => moveCursor(chart, here, -1, event.shiftKey),
                  ArrowRight: () => moveCursor(chart, here, 1, event.shiftKey),
                  Home: () => chart.cursor.show(low, null, true),
                  End: () => chart.cursor.show(high, null, true),
                  "+": () => zoomAround(chart, here, 0.5), "=": () => zoomAround(chart, here, 0.5),
                  "-": () => zoomAround(chart, here, 2), 0: () => setZoom(chart, null),
                  Escape: () => chart.cursor.hide() };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

/** To the next point of the first visible line, or by a twentieth of the width. */
function moveCursor(chart, here, direction, far) {
  const extent = chart.zoom || extentOf(chart);
  if (chart.cursor.position() === null) return chart.cursor.show(here, null, true);
  const xs = chart.lines[0].xs;
  const i = nearestIndex(xs, here);
  const next = far ? here + direction * (extent[1] - extent[0]) / 20
                   : xs[Math.min(Math.max(i + direction, 0), xs.length - 1)];
  chart.cursor.show(Math.min(Math.max(next, extent[0]), extent[1]), null, true);
}

function zoomAround(chart, x, factor) {
  const extent = extentOf(chart);
  const [low, high] = chart.zoom || extent;
  const from = Math.max(extent[0], x - (x - low) * factor);
  const to = Math.min(extent[1], x + (high - x) * factor);
  setZoom(chart, to - from >= extent[1] - extent[0] ? null : [from, to]);
}

/** Shows a range of x, or everything; `page.onZoom` may fetch more points for it. */
function setZoom(chart, range) {
  chart.zoom = range;
  chart.resetButton.hidden = range === null;
  chart.cursor.hide();
  chart.drawing.draw();
  if (page.onZoom) page.onZoom(chart, range);
}

/** Dragging with the mouse selects a range; a double click shows everything. */
function enableZoom(chart) {
  chart.resetButton = el("button", { type: "button", class: "small", hidden: true,
                                     onclick: () => setZoom(chart, null) }, "Show all");
  chart.parts.head.querySelector(".chart-buttons").prepend(chart.resetButton);
  const shade = el("div", { class: "shade", hidden: true, "aria-hidden": "true" });
  chart.frame.append(shade);
  let from = null;
  const { frame } = chart;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = dataAt(chart, event)[0];
  });
  frame.addEventListener("pointermove", (event) => {
    const x = from === null ? null : dataAt(chart, event)[0];
    if (x === null) return;
    const ends = [from, x].map((v) => chart.drawing.instance.convertToPixel({ xAxisIndex: 0 }, v)).sort((a, b) => a - b);
    shade.hidden = ends[1] - ends[0] < 4;
    shade.style.left = ends[0] + "px";
    shade.style.width = ends[1] - ends[0] + "px";
  });
  const end = (event) => {
    const x = from === null ? null : dataAt(chart, event)[0];
    if (x !== null && !shade.hidden) setZoom(chart, [Math.min(from, x), Math.max(from, x)]);
    shade.hidden = true;
    from = null;
  };
  frame.addEventListener("pointerup", end);
  frame.addEventListener("dblclick", () => setZoom(chart, null));
}

const MOST_ROWS = 200;

/** The numbers of a chart: one row per x, thinned, one column per line. */
function numbersTable(chart) {
  const kind = chart.spec.byTime ? "seconds" : chart.spec.view.kind;
  const format = FORMATS[chart.spec.format || "number"];
  const xs = [...new Set(chart.lines.flatMap((one) => one.xs))].sort((a, b) => a - b);
  const stride = Math.max(1, Math.ceil(xs.length / MOST_ROWS));
  const kept = xs.filter((_, i) => i % stride === 0 || i === xs.length - 1);
  const lines = chart.lines.slice(0, MOST_READ);
  const columns = [{ head: X_KINDS[kind].label, rowHead: true, cell: (x) => short(x) },
    ...lines.map((one) => ({ head: one.line.name, cell: (x) => valueNear(one, x, stride, format) }))];
  return table(columns, kept, { label: "Numbers of " + chart.spec.title });
}

function valueNear(one, x, stride, format) {
  const i = nearestIndex(one.xs, x);
  if (i < 0 || !isNumber(one.raw[i])) return "";
  return one.xs[i] === x || stride > 1 ? format(one.raw[i]) : "";
}
