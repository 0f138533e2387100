// SPDX-License-Identifier: Apache-2.0
//
// The loss landscape: a map with the runs' ways, and the same as a surface that can be
// turned, drawn by echarts-gl.

const LANDSCAPE_COLOURS = ["#08306b", "#2b7bba", "#9ecae1", "#f7fbff", "#fdd49e", "#fc8d59", "#b30000"];

function landscape(run) {
  const found = object(run.landscape);
  const rows = list(found.loss).map(list), xs = list(found.x), ys = list(found.y);
  if (rows.length === 0 || rows.length !== ys.length) return null;
  const parts = chartCard("landscape", "Loss around the weights", "Colour is the logarithm of the loss; lines are the runs' ways, from ring to dot.");
  parts.plot.classList.add("tall");
  if (hasCharts()) startDrawing(parts, () => landscapeOption(rows, xs, ys, found), "Loss landscape");
  else parts.plot.replaceWith(pictureOf("landscape", "Loss landscape") || el("p", { class: "note" }, "landscape.json has the numbers."));
  numbersButton(parts, () => landscapeTable(rows, xs, ys));
  const least = object(found.minimum);
  return section("landscape", "Landscape",
    el("p", { class: "lead" }, `${withCommas(found.samples)} ${text(found.split)} samples; least loss of the grid ${short(least.loss)} at (${short(least.x)}, ${short(least.y)}).`),
    el("div", { class: "grid" }, parts.card, surfaceCard(rows, xs, ys)));
}

function landscapeTable(rows, xs, ys) {
  return table([{ head: "y \\ x", rowHead: true, cell: (r) => short(ys[r]) },
    ...xs.map((x, c) => ({ head: short(x), cell: (r) => short(rows[r][c]) }))], ys.map((_, r) => r), { label: "Loss by place" });
}

/** [x, y, log10 loss, loss] of every cell that has one; x and y are those of `place`. */
function landscapeCells(rows, place) {
  const cells = [];
  rows.forEach((row, y) => row.forEach((loss, x) => { if (isNumber(loss) && loss > 0) cells.push([...place(x, y), Math.log10(loss), loss]); }));
  return cells;
}

function landscapeScale(cells) {
  const logs = cells.map((c) => c[2]);
  return { min: Math.min(...logs), max: Math.max(...logs), dimension: 2, inRange: { color: LANDSCAPE_COLOURS } };
}

/** The largest and the least loss, for the ends of the scale. */
function lossEnds(cells) {
  const { min, max } = landscapeScale(cells);
  return [max, min].map((v) => short(Number(Math.pow(10, v).toPrecision(3))));
}

function landscapeOption(rows, xs, ys, found) {
  const look = colours();
  const cells = landscapeCells(rows, (x, y) => [x, y]);
  // Paths are drawn on value axes over the categories of the cells.
  const category = (values) => ({ type: "category", data: values.map((v) => short(Number(v.toPrecision(3)))), axisTick: { show: false },
    axisLabel: { color: look.text, fontSize: 11, interval: Math.max(0, Math.ceil(values.length / 8) - 1) }, axisLine: { lineStyle: { color: look.line } } });
  const span = (values) => { const half = (values[1] - values[0]) / 2; return { type: "value", show: false, min: values[0] - half, max: values[values.length - 1] + half }; };
  const paths = list(found.runs).map(object).map((one, index) => ({ type: "line", xAxisIndex: 1, yAxisIndex: 1, silent: true, animation: false,
    data: list(one.saves).map(object).map((s, i, all) => ({ value: [s.x, s.y], symbol: i === 0 ? "emptyCircle" : "circle", symbolSize: i === 0 || i === all.length - 1 ? 10 : 3 })),
    lineStyle: { color: PALETTE.light[(index + 1) % 8], width: 2 }, itemStyle: { color: PALETTE.light[(index + 1) % 8] } }));
  return { animation: false, grid: { left: 48, right: 84, top: 10, bottom: 28 },
    xAxis: [category(xs), span(xs)], yAxis: [category(ys), span(ys)],
    visualMap: { ...landscapeScale(cells), right: 0, top: "middle", seriesIndex: 0, calculable: false, itemHeight: 200,
                 textStyle: { color: look.text, fontSize: 11 }, text: lossEnds(cells) },
    tooltip: { confine: true, formatter: (p) => (p.seriesType === "heatmap" ? hoverText(`loss ${short(p.data[3])}`) : "") },
    series: [{ type: "heatmap", data: cells, progressive: 0 }, ...paths] };
}

// The surface.

const SURFACES = "echarts-gl";  // what its script calls itself

/** Whether surfaces can be drawn. A page that is served fetches the script now. */
async function canDrawSurfaces() {
  if (!document.createElement("canvas").getContext("webgl")) return "This browser has no WebGL: the map has the same numbers.";
  if (!window[SURFACES] && page.live) await fetchSurfaces();
  return window[SURFACES] ? "" : "Surfaces need echarts-gl, which was not installed where this page was made. script/bootstrap installs it where npm is.";
}

/** The page's policy knows the script by its hash, so that it may be a text. */
async function fetchSurfaces() {
  const answer = await fetch("api/surfaces", { credentials: "same-origin" }).catch(() => null);
  if (answer && answer.ok) document.head.append(el("script", {}, await answer.text()));
}

function surfaceCard(rows, xs, ys) {
  const parts = chartCard("landscape-surface", "The same as a surface", "Drag, or use the arrow keys, to turn it. Height and colour are the logarithm of the loss.");
  const instead = (reason) => parts.plot.replaceWith(pictureOf("landscape-surface", "Loss landscape as a surface") || "",
    el("p", { class: "note" }, reason));
  parts.plot.classList.add("tall");
  if (!hasCharts()) instead("");
  else canDrawSurfaces().then((missing) => (missing ? instead(missing) : drawSurface(parts, rows, xs, ys)));
  return parts.card;
}

function drawSurface(parts, rows, xs, ys) {
  const angle = { alpha: 30, beta: 35 };
  const chart = startDrawing(parts, () => surfaceOption(rows, xs, ys, { ...angle, distance: parts.plot.clientWidth < 420 ? 300 : 220 }), "Loss landscape as a surface", withoutEval);
  parts.plot.tabIndex = 0;
  parts.plot.setAttribute("role", "application");
  parts.plot.setAttribute("aria-roledescription", "chart");
  parts.plot.setAttribute("aria-label", "Loss landscape as a surface. Arrow keys turn it; the map's button Numbers has the numbers.");
  const turns = { ArrowLeft: ["beta", -10], ArrowRight: ["beta", 10], ArrowUp: ["alpha", 10], ArrowDown: ["alpha", -10] };
  parts.plot.addEventListener("keydown", (event) => {
    const turn = turns[event.key];
    if (!turn || !chart.instance) return;
    event.preventDefault();
    angle[turn[0]] = turn[0] === "alpha" ? Math.min(90, Math.max(0, angle.alpha + turn[1])) : angle.beta + turn[1];
    chart.instance.setOption({ grid3D: { viewControl: angle } });
  });
}

/** echarts-gl makes functions of texts, which the page's policy forbids: all of them are
 *  sizes, such as "width * 1.0 / 2" or "[width * 1.0, height * 1.0]". */
function withoutEval(draw) {
  const own = window.Function;
  function Sizes(...parts) {
    const sizes = parts.pop().split(",").map((part) => /(width|height)[ *.10]*(?:\/ (\d+))?/.exec(part));
    const valueOf = (size, sides) => sides[size[1]] / Number(size[2] || 1);
    return (width, height) => {
      const values = sizes.map((size) => valueOf(size, { width, height }));
      return values.length > 1 ? values : values[0];
    };
  }
  Sizes.prototype = own.prototype;  // for instanceof
  window.Function = Sizes;
  try { draw(); } finally { window.Function = own; }
}

function surfaceOption(rows, xs, ys, angle) {
  const look = colours();
  const cells = landscapeCells(rows, (x, y) => [xs[x], ys[y]]);
  // The ends of two axes meet at a corner, where their labels would be one over the other.
  const inside = (values) => (v) => (v > values[0] && v < values[values.length - 1] ? short(v) : "");
  const style = { color: look.text, fontSize: 12, lineHeight: 24 };
  const axis = (name, formatter) => ({ type: "value", name, nameTextStyle: style, nameGap: 18,
    axisLabel: { textStyle: style, margin: 6, formatter }, axisLine: { lineStyle: { color: look.text, width: 1 } },
    splitLine: { lineStyle: { color: look.line } }, splitNumber: 4 });
  return { animation: false, backgroundColor: "transparent",
    xAxis3D: { ...axis("x", inside(xs)), min: xs[0], max: xs[xs.length - 1] }, yAxis3D: { ...axis("y", inside(ys)), min: ys[0], max: ys[ys.length - 1] },
    zAxis3D: axis("loss", (v) => short(Number(Math.pow(10, v).toPrecision(2)))),
    grid3D: { boxWidth: 100, boxDepth: 100, boxHeight: 60, axisPointer: { show: false }, environment: "none",
      viewControl: { ...angle, minDistance: angle.distance, maxDistance: angle.distance, panSensitivity: 0, zoomSensitivity: 0, animation: false, rotateSensitivity: 1.5 } },
    visualMap: { show: false, ...landscapeScale(cells) },
    series: [{ type: "surface", shading: "color", silent: true, data: surfaceData(rows, xs, ys),
               wireframe: { show: true, lineStyle: { color: "rgba(0,0,0,0.25)", width: 1 } } }] };
}

/** A surface needs all of its points; those without a loss are gaps. */
function surfaceData(rows, xs, ys) {
  return ys.flatMap((y, r) => xs.map((x, c) => [x, y, isNumber(rows[r][c]) && rows[r][c] > 0 ? Math.log10(rows[r][c]) : "-"]));
}
