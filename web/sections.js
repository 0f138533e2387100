// SPDX-License-Identifier: Apache-2.0
//
// The page of one run, section by section. A section without data is left out.

function tile(label, value, note) {
  return el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value),
    note ? el("dd", { class: "note" }, note) : null);
}

function section(id, title, ...content) {
  const parts = content.flat(3).filter(Boolean);
  if (parts.length === 0) return null;
  return el("section", { id, "aria-labelledby": id + "-title" },
    el("h2", { id: id + "-title" }, title), parts);
}

function settingOf(run, name) {
  return list(run.settings).find((setting) => setting.name === name)?.value || "";
}

/** "lenet5 on synthetic, ddp, 2 ranks x 1 thread, sgd, batch size 64". */
function subtitle(run) {
  const summary = object(run.summary);
  const model = text(summary.model) || settingOf(run, "model.name");
  const data = text(summary.data) || settingOf(run, "data.name");
  const ranks = number(summary.ranks);
  const threads = number(summary.threads);
  return [model && data ? `${model} on ${data}` : model,
          text(summary.strategy) || settingOf(run, "strategy.name"),
          ranks ? `${ranks} rank${ranks === 1 ? "" : "s"}` + (threads ? ` x ${threads} thread${threads === 1 ? "" : "s"}` : "") : "",
          settingOf(run, "optimizer.name"),
          summary.batch_size ? `batch size ${summary.batch_size}` : ""].filter(Boolean).join(" \u00b7 ");
}

function overview(run) {
  const summary = object(run.summary), scores = object(run.scores), progress = object(run.progress);
  const seconds = object(summary.seconds);
  const best = leastLoss(run);
  const tiles = [];
  for (const split of ["test", "val", "train"]) {
    const score = object(scores[split]);
    if (!isNumber(score.accuracy)) continue;
    tiles.push(tile(`${splitName(split)} accuracy`, percent(score.accuracy), `loss ${short(score.loss)}`));
  }
  if (best) tiles.push(tile(`least ${splitName(best.split)} loss`, short(best.loss), `at step ${withCommas(best.step)}`));
  tiles.push(tile("training time", duration(number(seconds.training) ?? progress.training_seconds),
    isNumber(seconds.total) ? `${duration(seconds.total)} in all` : null));
  tiles.push(tile("images per second", withCommas(Math.round(progress.images_per_second)), stepNote(summary)));
  tiles.push(tile("steps", withCommas(number(summary.steps) ?? progress.step),
    isNumber(summary.epochs) ? `${summary.epochs} epoch${summary.epochs === 1 ? "" : "s"}` : null));
  tiles.push(...usageTiles(summary));
  return section("overview", "Overview",
    el("p", { class: "lead" }, stateBadge(run.state), " ", subtitle(run)),
    problems(run), el("dl", { class: "tiles" }, tiles));
}

const sum = (values) => values.reduce((a, b) => a + (number(b) ?? 0), 0);

function stepNote(summary) {
  const step = object(summary.step_ms);
  return isNumber(step.p50) ? `${milliseconds(step.p50)} per step` : null;
}

function usageTiles(summary) {
  const tiles = [];
  const sent = list(summary.communication).map((rank) => object(rank).bytes_sent);
  const peak = list(summary.peak_rss_bytes).filter(isNumber);
  if (isNumber(summary.parameters)) tiles.push(tile("parameters", withCommas(summary.parameters)));
  const planned = number(object(summary.planned_memory).bytes);
  const notes = [peak.length > 1 ? "of the largest rank" : null, planned === null ? null : `${bytes(planned)} planned`];
  if (peak.length > 0) tiles.push(tile("peak memory", bytes(Math.max(...peak)), notes.filter(Boolean).join(", ") || null));
  if (sum(sent) > 0) tiles.push(tile("sent", bytes(sum(sent)), "by all ranks"));
  return tiles;
}

function stateBadge(state) {
  const known = ["finished", "stopped", "failed", "running", "unfinished", "broken"];
  return el("span", { class: "badge state-" + (known.includes(state) ? state : "unfinished") }, text(state));
}

function problems(run) {
  const all = list(run.problems);
  const reason = text(object(object(run.summary).exit).reason);
  if (run.state !== "finished" && reason) all.push(reason);
  if (all.length === 0) return null;
  return el("div", { class: "notice", role: "note" }, all.map((one) => el("p", {}, text(one))));
}

const CURVES = [
  { id: "loss", title: "Loss", series: [["train/loss", "training", true], ["val/loss", "validation"], ["test/loss", "test"]], marked: true },
  { id: "accuracy", title: "Accuracy", format: "percent", canLog: false, series: [["train/accuracy", "training", true], ["val/accuracy", "validation"], ["test/accuracy", "test"]], marked: true },
  { id: "learning-rate", title: "Learning rate", series: [["train/lr", "learning rate"]] },
  { id: "weight-norm", title: "Norm of the weights", series: [["train/weight_norm", "weights"]] },
  { id: "gradient-norm", title: "Norm of the gradients", series: [["train/grad_norm", "gradients", true]] },
  { id: "images-per-second", title: "Images per second", fromZero: true, canLog: false, series: [["perf/images_per_second", "images per second", true]] },
  { id: "step-time", title: "Time of a step", format: "ms", fromZero: true, series: [["perf/step_ms", "median since the last record", true]] },
];

function newView() {
  return { kind: "step", smoothing: 0.6, log: false, hidden: new Set() };
}

function marksOfLeastLoss(run) {
  const best = leastLoss(run);
  if (!best) return () => [];
  const series = { x: [best.step], y: [best.loss] };
  return (kind) => [{ x: xValues(run, series, kind)[0], name: `least ${splitName(best.split)} loss` }];
}

function curveLines(run, names) {
  return names.map(([name, label, smooth], index) => ({ name: label, run, smooth, colour: index,
    dots: /^(val|test)\//.test(name), series: seriesOf(run, name) })).filter((line) => line.series);
}

function curves(run) {
  const shared = newView();
  const made = [];
  for (const curve of CURVES) {
    const series = curveLines(run, curve.series);
    if (series.length === 0) continue;
    // Each chart hides its own curves; axis and smoothing are shared.
    const view = { get kind() { return shared.kind; }, get smoothing() { return shared.smoothing; },
                   get log() { return shared.log; }, hidden: new Set() };
    made.push(lineChart({ ...curve, series, view, noLegend: series.length < 2,
                          marks: curve.marked ? marksOfLeastLoss(run) : null }));
  }
  if (made.length === 0) return null;
  return section("curves", "Curves", viewControls(shared, () => made.forEach(resetAndRefresh)),
    el("div", { class: "grid" }, made.map((chart) => chart.parts.card)));
}

function resetAndRefresh(chart) {
  chart.zoom = null;
  if (chart.resetButton) chart.resetButton.hidden = true;
  chart.refresh();
}

/** Axis, smoothing and scale of a section's charts. */
function viewControls(view, changed) {
  if (!hasCharts() && viewControls.said) return null;
  viewControls.said = !hasCharts();
  if (!hasCharts()) return el("p", { class: "notice no-charts" }, "Charts are pictures here, and some only tables: " +
    "ECharts was not installed where this page was made. script/bootstrap installs it where npm is.");
  const axis = el("select", { onchange: () => { view.kind = axis.value; changed(); } },
    Object.entries(X_KINDS).map(([kind, { title }]) => el("option", { value: kind, selected: kind === view.kind }, title)));
  const shown = el("output", {}, view.smoothing.toFixed(2));
  const smoothing = el("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: view.smoothing, oninput: () => {
    view.smoothing = Number(smoothing.value);
    shown.textContent = view.smoothing.toFixed(2);
    changed();
  } });
  const log = el("input", { type: "checkbox", onchange: () => { view.log = log.checked; changed(); } });
  return el("div", { class: "controls", role: "group", "aria-label": "How curves are drawn" },
    el("label", {}, "Over ", axis), el("label", {}, "Smoothing ", smoothing, shown),
    el("label", {}, log, " Logarithmic"));
}

function settings(run) {
  const all = list(run.settings);
  if (all.length === 0) return null;
  const differing = all.filter((setting) => setting.differs);
  const columns = [{ head: "Setting", rowHead: true, cell: (s) => s.name },
                   { head: "Value", left: true, cell: (s) => el("code", {}, s.value === "" ? "\u2013" : s.value) },
                   { head: "Default", left: true, cell: (s) => (s.default === "" ? "\u2013" : s.default) },
                   { head: "Meaning", left: true, cell: (s) => s.help }];
  return section("settings", "Settings",
    differing.length > 0 ? table(columns, differing, { caption: "Not at their defaults", class: "settings" }) : el("p", {}, "All settings have their defaults."),
    whenOpened(`All ${all.length} settings`, () => table(columns, all, { label: "All settings", class: "settings" })));
}

/** Details that are made when somebody wants to see them. */
function whenOpened(title, content) {
  const details = el("details", { ontoggle: () => { if (details.open && details.children.length === 1) details.append(content()); } }, el("summary", {}, title));
  return details;
}

function repeating(run) {
  const summary = object(run.summary);
  const command = text(summary.command);
  const parts = [];
  if (command) parts.push(el("h3", {}, "The command"), copyable(command, "the command"));
  if (text(summary.weights_sha256)) {
    parts.push(el("h3", {}, "The weights it ended at"), copyable(summary.weights_sha256, "SHA-256 of the weights"),
      el("p", { class: "note" }, "SHA-256 of the weights. Another run that ends at the same number ended at the same bits."));
  }
  if (parts.length === 0) return null;
  return section("repeat", "Repeat this run", parts,
    el("p", { class: "note" }, "The run's folder has all settings: ", el("code", {}, "convoy train --config config.yaml"), " repeats it."));
}

function runSections(run) {
  prepareRun(run);
  return [overview(run), curves(run), evaluation(run), timing(run), resources(run), asynchrony(run),
          modelSection(run), histograms(run), landscape(run), settings(run), repeating(run)];
}
