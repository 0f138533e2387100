// SPDX-License-Identifier: Apache-2.0
//
// Histograms of weights and gradients (run.histograms), one line per epoch.

function histograms(run) {
  const found = object(run.histograms);
  const tensors = list(found.tensors).map(object), epochs = list(found.epochs);
  const names = [...new Set(tensors.map((one) => withoutKind(text(one.name))))].filter(Boolean);
  if (names.length === 0 || epochs.length === 0) return null;
  const kinds = [["weights", "Weights"], ["gradients", "Gradients"]];
  const shown = { name: names[0] };
  const made = kinds.map(([kind, title]) => histogramChart(kind, title, () => tensors.find((one) => one.name === `${kind}/${shown.name}`), epochs));
  const choice = el("select", { onchange: () => { shown.name = choice.value; made.forEach((one) => one.refresh()); } },
    names.map((name) => el("option", { value: name }, name)));
  return section("histograms", "Histograms",
    el("div", { class: "controls" }, el("label", {}, "Tensor ", choice),
      el("span", { class: "note" }, `A line is an epoch, from faint (${epochs[0]}) to strong (${epochs[epochs.length - 1]}).`)),
    el("div", { class: "grid" }, made.map((one) => one.card)));
}

const withoutKind = (name) => name.slice(name.indexOf("/") + 1);

function histogramChart(kind, title, tensor, epochs) {
  const parts = chartCard("histogram-" + kind, title, kind === "gradients" ? "Of the last step of the epoch" : "After the epoch");
  const records = () => list(object(tensor()).records).map((one, i) => ({ ...object(one), epoch: epochs[i] }))
    .filter((one) => isNumber(one.least) && isNumber(one.most));
  let drawing = null;
  numbersButton(parts, () => histogramTable(records(), title));
  if (hasCharts()) drawing = startDrawing(parts, () => histogramOption(records()), title + " as histograms; the button Numbers has a table");
  else parts.plot.replaceWith(el("p", { class: "note" }, "See the numbers."));
  return { card: parts.card, refresh: () => {
    parts.card.hidden = records().length === 0;
    if (drawing && !parts.card.hidden) redraw(drawing);
  } };
}

/** The middles of the parts, and how dense the numbers are there. */
function densities(record) {
  const counts = list(record.counts), whole = sum(counts) || 1;
  const width = (record.most - record.least) / (counts.length || 1) || 1;
  return counts.map((count, i) => [record.least + (i + 0.5) * width, count / whole / width]);
}

function quantile(record, part) {
  const counts = list(record.counts), wanted = part * sum(counts);
  let seen = 0;
  for (let i = 0; i < counts.length; ++i) {
    seen += counts[i];
    if (seen >= wanted) return record.least + (i + 0.5) * (record.most - record.least) / counts.length;
  }
  return record.most;
}

function histogramTable(records, title) {
  return table([{ head: "Epoch", rowHead: true, cell: (r) => r.epoch }, { head: "Least", cell: (r) => short(r.least) },
    { head: "Quarter", cell: (r) => short(quantile(r, 0.25)) }, { head: "Median", cell: (r) => short(quantile(r, 0.5)) },
    { head: "Three quarters", cell: (r) => short(quantile(r, 0.75)) }, { head: "Largest", cell: (r) => short(r.most) }],
    records, { label: `${title}: quantiles, to a fortieth of the range` });
}

function histogramOption(records) {
  const look = colours();
  const axis = { axisLabel: { color: look.text, fontSize: 11, hideOverlap: true, formatter: (v) => short(v) },
                 axisLine: { onZero: false, lineStyle: { color: look.line } }, splitLine: { lineStyle: { color: look.line, opacity: 0.6 } },
                 nameTextStyle: { color: look.text, fontSize: 11 } };
  const last = records.length - 1;
  return { animation: false, textStyle: { fontFamily: "inherit" },
    grid: { left: 8, right: 16, top: 28, bottom: 30, containLabel: true },
    xAxis: { ...axis, type: "value", scale: true, name: "value", nameLocation: "middle", nameGap: 26, splitLine: { show: false } },
    yAxis: { ...axis, type: "value", name: "density", nameTextStyle: { ...axis.nameTextStyle, align: "left" } },
    series: records.map((record, i) => ({ type: "line", silent: true, showSymbol: false, data: densities(record),
      lineStyle: { color: look.palette[0], width: i === last ? 2.4 : 1.4, opacity: last > 0 ? 0.2 + 0.8 * i / last : 1 },
      areaStyle: i === last ? { color: look.palette[0], opacity: 0.12 } : undefined })) };
}
