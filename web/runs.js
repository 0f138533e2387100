// SPDX-License-Identifier: Apache-2.0
//
// The page of several runs: a table, curves over each other, what differs; and of a sweep
// or a cross-validation its ranking and parallel coordinates.

const MOST_SHOWN = 12;  // runs whose curves are drawn at first

const COMPARED = [
  { id: "train-loss", title: "Training loss", names: ["train/loss"], smooth: true },
  { id: "eval-loss", title: "Validation loss", names: ["val/loss", "test/loss"] },
  { id: "eval-accuracy", title: "Validation accuracy", format: "percent", canLog: false, names: ["val/accuracy", "test/accuracy"] },
  { id: "train-accuracy", title: "Training accuracy", format: "percent", canLog: false, names: ["train/accuracy"], smooth: true },
  { id: "images-per-second", title: "Images per second", canLog: false, fromZero: true, names: ["perf/images_per_second"], smooth: true },
  { id: "learning-rate", title: "Learning rate", names: ["train/lr"] },
  { id: "weight-norm", title: "Norm of the weights", names: ["train/weight_norm"] },
];

function comparedOf(data) {
  return list(object(data.comparison).runs).map(object);
}

function comparisonSections(data) {
  const runs = list(data.runs).map(prepareRun);
  const rows = comparedOf(data);
  return [studySection(data), tableSection(data, rows), comparedCurves(runs, data), speedSection(rows),
          targetSection(runs), differencesSection(data, rows), data.sweep ? null : commandsSection(runs)];
}

const scoreOf = (row) => object(row.val).accuracy !== undefined ? object(row.val) : object(row.test);

function tableSection(data, rows) {
  if (rows.length === 0) return null;
  const names = list(object(data.comparison).settings);
  const has = (get) => rows.some((row) => isNumber(get(row)));
  const optional = (head, get, format) => (has(get) ? [{ head, cell: (r) => format(get(r)), sort: (r) => number(get(r)) }] : []);
  const columns = [{ head: "Run", rowHead: true, cell: (r) => text(r.name), sort: (r) => text(r.name) },
    { head: "State", left: true, cell: (r) => stateBadge(r.state), sort: (r) => text(r.state) },
    ...names.slice(0, 4).map((name) => ({ head: shortName(name, names), left: true, cell: (r) => text(object(r.settings)[name]) || "\u2013",
                                          sort: (r) => sortable(object(r.settings)[name]) })),
    ...optional("Test accuracy", (r) => object(r.test).accuracy, percent),
    ...optional("Validation accuracy", (r) => object(r.val).accuracy, percent),
    ...optional("Validation loss", (r) => object(r.val).loss, short),
    ...optional("Steps", (r) => r.steps, withCommas),
    ...optional("Training time", (r) => r.training_seconds, duration),
    ...optional("Images/s", (r) => r.images_per_second, (v) => withCommas(Math.round(v))),
    ...optional("Speed-up", (r) => r.speedup, (v) => (isNumber(v) ? v.toFixed(2) : "\u2013")),
    ...optional("Sent", (r) => r.bytes_sent || null, bytes),
    ...optional("Peak memory", (r) => r.peak_rss_bytes, bytes)];
  const broken = rows.filter((row) => list(row.problems).length > 0);
  return section("runs", `${rows.length} runs`, table(columns, rows, { label: "Runs", name: "runs" }),
    broken.length > 0 ? el("details", { class: "notice" }, el("summary", {}, `${broken.length} runs have files that cannot be read`),
      broken.map((row) => list(row.problems).map((one) => el("p", {}, `${text(row.name)}: ${text(one)}`)))) : null,
    el("p", { class: "note" }, "The speed-up is that of images per second against the first run."));
}

/** The last part of a setting's name, where that is clear. */
function shortName(name, names) {
  const last = name.slice(name.lastIndexOf(".") + 1);
  const clear = names.filter((other) => other.slice(other.lastIndexOf(".") + 1) === last).length === 1;
  return clear && last !== "name" ? last : name;
}

function sortable(value) {
  const asNumber = Number(value);
  return value !== "" && Number.isFinite(asNumber) ? asNumber : text(value);
}

function comparedCurves(runs) {
  const view = newView();
  runs.slice(MOST_SHOWN).forEach((run) => view.hidden.add(text(run.id)));
  const made = [];
  const refreshAll = () => { made.forEach((chart) => chart.refresh()); picker.update(); };
  const picker = runPicker(runs, view, () => refreshAll());
  for (const curve of COMPARED) {
    const series = runs.map((run, index) => ({ name: text(run.id), key: text(run.id), run, smooth: curve.smooth, dots: curve.id.startsWith("eval"),
      colour: index, series: curve.names.map((name) => seriesOf(run, name)).find(Boolean) })).filter((line) => line.series);
    if (series.length === 0) continue;
    made.push(lineChart({ ...curve, series, view, noLegend: true }));
  }
  if (made.length === 0) return null;
  return section("curves", "Curves", viewControls(view, () => made.forEach(resetAndRefresh)), picker.element,
    el("div", { class: "grid" }, made.map((chart) => chart.parts.card)));
}

/** Boxes that show and hide runs in all charts, with a filter. */
function runPicker(runs, view, changed) {
  const boxes = runs.map((run, index) => {
    const id = text(run.id);
    const box = el("input", { type: "checkbox", onchange: () => { box.checked ? view.hidden.delete(id) : view.hidden.add(id); changed(); } });
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    return { id, box, swatch, index, label: el("label", { class: "legend-entry" }, box, swatch, id) };
  });
  const count = el("span", { class: "note", role: "status" });
  const filter = el("input", { type: "search", "aria-label": "Filter runs by name", placeholder: "Filter by name", oninput: () => {
    const wanted = filter.value.toLowerCase();
    for (const one of boxes) one.label.hidden = !one.id.toLowerCase().includes(wanted);
  } });
  const all = (show) => { for (const one of boxes) { if (one.label.hidden) continue; show ? view.hidden.delete(one.id) : view.hidden.add(one.id); } changed(); };
  const update = () => {
    for (const one of boxes) {
      one.box.checked = !view.hidden.has(one.id);
      one.swatch.style.borderTopColor = colourOf(one.index);
      one.swatch.style.borderTopStyle = dashOf(one.index);
    }
    count.textContent = `${boxes.filter((one) => one.box.checked).length} of ${boxes.length} runs are drawn`;
  };
  update();
  document.addEventListener("recolour", update);
  const element = el("div", { class: "card picker", role: "group", "aria-label": "Runs that are drawn" },
    el("div", { class: "controls" }, boxes.length > 8 ? filter : null,
      el("button", { type: "button", class: "small", onclick: () => all(true) }, "Show all"),
      el("button", { type: "button", class: "small", onclick: () => all(false) }, "Hide all"), count),
    el("div", { class: "legend" }, boxes.map((one) => one.label)));
  return { element, update };
}

/** Bars of a number per run. */
function barCard(title, note, rows, format) {
  const known = rows.filter((row) => isNumber(row.value));
  if (known.length < 2 || known.length > 60) return null;
  const most = Math.max(...known.map((row) => row.value)) || 1;
  return el("div", { class: "card" }, el("h3", {}, title), note ? el("p", { class: "note" }, note) : null,
    el("div", { class: "bars" }, table([
      { head: "Run", rowHead: true, cell: (r) => r.name }, { head: "Value", cell: (r) => format(r.value) },
      { head: "Beside the others", left: true, cell: (r) => {
        const bar = el("span", { class: "bar", "aria-hidden": "true" });
        bar.style.width = 100 * r.value / most + "%";
        return bar;
      } }], known, { label: title })));
}

function speedSection(rows) {
  const values = (get) => rows.map((row) => ({ name: text(row.name), value: number(get(row)) }));
  const cards = [barCard("Speed-up", "Images per second against the first run", values((r) => r.speedup), (v) => v.toFixed(2) + " x"),
    barCard("Sent per step", "By all ranks together", values((r) => (r.steps > 0 && r.bytes_sent > 0 ? r.bytes_sent / r.steps : null)), bytes),
    barCard("Time of a step", "The mean, without the first", values((r) => r.step_ms), milliseconds),
    barCard("Peak memory", "Of the rank that took most", values((r) => r.peak_rss_bytes), bytes)].filter(Boolean);
  if (cards.length === 0) return null;
  return section("speed", "Speed and communication", el("div", { class: "grid" }, cards));
}

/** When each run first reached an accuracy, which the reader chooses. */
function targetSection(runs) {
  const scored = runs.map((run) => ({ run, series: ["val/accuracy", "test/accuracy"].map((name) => seriesOf(run, name)).find(Boolean) }))
    .filter((one) => one.series && list(one.series.y).some(isNumber));
  if (scored.length < 2) return null;
  const best = scored.map((one) => Math.max(...list(one.series.y).filter(isNumber)));
  const target = el("input", { type: "range", min: 0, max: 100, step: 0.5, value: Math.floor(98 * Math.min(...best)) });
  const shown = el("output", {});
  const place = el("div", {});
  const fill = () => {
    const wanted = Number(target.value) / 100;
    shown.textContent = percent(wanted, 1);
    const rows = scored.map(({ run, series }) => reached(run, series, wanted));
    const first = rows.find((row) => isNumber(row.seconds));
    place.replaceChildren(table([{ head: "Run", rowHead: true, cell: (r) => r.name },
      { head: "Training time", cell: (r) => (isNumber(r.seconds) ? duration(r.seconds) : "not reached"), sort: (r) => r.seconds },
      { head: "Step", cell: (r) => withCommas(r.step), sort: (r) => r.step },
      { head: "Speed-up", cell: (r) => (first && isNumber(r.seconds) && r.seconds > 0 ? (first.seconds / r.seconds).toFixed(2) : "\u2013") }],
      rows, { label: "Time to accuracy" }));
  };
  target.addEventListener("input", fill);
  fill();
  const made = section("target", "Time to accuracy", el("div", { class: "controls" }, el("label", {}, "Accuracy ", target, shown)), place,
    el("p", { class: "note" }, "The first evaluation during training that reached it. The time of evaluations is left out."));
  made.refresh = fill;
  return made;
}

function reached(run, series, wanted) {
  const i = list(series.y).findIndex((y) => isNumber(y) && y >= wanted);
  if (i < 0) return { name: text(run.id), seconds: null, step: null };
  return { name: text(run.id), step: series.x[i], seconds: xValues(run, series, "seconds")[i] };
}

function differencesSection(data, rows) {
  const names = list(object(data.comparison).settings);
  if (names.length === 0 || rows.length === 0) return null;
  if (rows.length > 40) return null;  // the table of runs has the first of them
  const first = object(rows[0].settings);
  const body = names.map((name) => ({ name }));
  return section("settings", "Settings that differ", table([
    { head: "Setting", rowHead: true, cell: (s) => s.name },
    ...rows.map((row) => ({ head: text(row.name), left: true, cell: (s) => {
      const value = text(object(row.settings)[s.name]) || "\u2013";
      return value === (text(first[s.name]) || "\u2013") ? value : el("strong", {}, value);
    } }))], body, { label: "Settings that differ" }), el("p", { class: "note" }, "Bold: other than in the first run."));
}

function commandsSection(runs) {
  const known = runs.map((run) => ({ name: text(run.id), command: text(object(run.summary).command) })).filter((one) => one.command);
  if (known.length === 0 || known.length > 20) return null;
  return section("repeat", "Repeat these runs", known.map((one) => [el("h3", {}, one.name), copyable(one.command, "the command of " + one.name)]));
}

function studySection(data) {
  const study = object(data.sweep);
  const groups = list(study.groups).map((group, index) => ({ ...object(group), place: index + 1 }));
  if (groups.length === 0) return null;
  const names = list(study.dimensions).filter((name) => groups.some((group) => object(group.values)[name] !== undefined));
  const split = splitName(text(study.split)), best = groups[0];
  const title = study.command === "kfold" ? "Cross-validation" : "Sweep";
  return section("study", title,
    best.state === "done" ? el("div", { class: "card best" }, el("h3", {}, "The best"),
      el("p", {}, names.map((name) => `${name}=${text(object(best.values)[name])}`).join(" \u00b7 ") || "the only combination", ": ",
        `${split} accuracy ${statistic(best.accuracy, percent)}, loss ${statistic(best.loss, short)}`),
      text(best.command) ? copyable(best.command, "the command of the best") : null) : null,
    parallelCard(groups, names, study), studyTable(groups, names, split));
}

function statistic(value, format) {
  const found = object(value);
  if (!isNumber(found.mean)) return "\u2013";
  return format(found.mean) + (found.count > 1 ? " \u00b1 " + format(found.deviation) : "");
}

function studyTable(groups, names, split) {
  const mean = (get) => (g) => number(object(get(g)).mean);
  return table([{ head: "Place", rowHead: true, cell: (g) => g.place, sort: (g) => g.place },
    ...names.map((name) => ({ head: shortName(name, names), left: true, cell: (g) => text(object(g.values)[name]), sort: (g) => sortable(object(g.values)[name]) })),
    { head: `${split} accuracy`, cell: (g) => statistic(g.accuracy, percent), sort: mean((g) => g.accuracy) },
    { head: `${split} loss`, cell: (g) => statistic(g.loss, short), sort: mean((g) => g.loss) },
    { head: "Time", cell: (g) => statistic(g.seconds, duration), sort: mean((g) => g.seconds) },
    { head: "Runs", cell: (g) => list(g.rows).length },
    { head: "State", left: true, cell: (g) => (g.state === "done" ? "done" : text(g.state) + (g.epoch ? ` after epoch ${g.epoch}` : "")) }],
    groups, { caption: "All combinations, best first" });
}

function parallelCard(groups, names, study) {
  const metric = study.score === "loss" ? "loss" : "accuracy";
  const drawn = groups.filter((group) => isNumber(object(group[metric]).mean));
  if (drawn.length < 2 || names.length === 0) return null;
  const parts = chartCard("parallel", "Settings and result", "One line per combination; its colour is its result, and the table below has the numbers. Drag along an axis to select.");
  parts.plot.classList.add("tall");
  if (hasCharts()) startDrawing(parts, () => parallelOption(drawn, names, metric, study), "Parallel coordinates; the table below has the numbers");
  else parts.plot.replaceWith(pictureOf("parallel", "Settings and result") || el("p", { class: "note" }, "See the table."));
  return parts.card;
}

function parallelOption(groups, names, metric, study) {
  const look = colours();
  const axes = names.map((name, dim) => {
    const values = groups.map((group) => text(object(group.values)[name]));
    const numeric = values.every((v) => v !== "" && Number.isFinite(Number(v)));
    const numbers = values.map(Number);
    const log = numeric && Math.min(...numbers) > 0 && Math.max(...numbers) >= 20 * Math.min(...numbers);
    return numeric ? { dim, name: shortName(name, names), type: log ? "log" : "value", scale: true, read: Number }
                   : { dim, name: shortName(name, names), type: "category", data: [...new Set(values)], read: (v) => v };
  });
  const scores = groups.map((group) => group[metric].mean);
  const result = { dim: names.length, name: `${splitName(text(study.split))} ${metric}`, type: "value", scale: true, axisLabel: { formatter: metric === "accuracy" ? AXIS_FORMATS.percent : (v) => short(v) } };
  return { animation: false,
    parallel: { left: 50, right: 90, top: 40, bottom: 24, parallelAxisDefault: { nameTextStyle: { color: look.text, fontSize: 12 }, nameGap: 14,
      z: 20, axisLabel: { color: look.text, fontSize: 11, textBorderColor: look.ground, textBorderWidth: 3, formatter: (v) => (typeof v === "number" ? short(v) : cut(v, 18)) },
      axisLine: { lineStyle: { color: look.text } } } },
    parallelAxis: [...axes.map(({ read, ...axis }) => axis), result],
    visualMap: { show: false, min: Math.min(...scores), max: Math.max(...scores), dimension: names.length,
                 inRange: { color: metric === "loss" ? [look.palette[0], look.palette[1]] : [look.palette[1], look.palette[0]] } },
    series: [{ type: "parallel", lineStyle: { width: 2, opacity: 0.75 }, inactiveOpacity: 0.06,
      data: groups.map((group) => [...axes.map((axis, i) => axis.read(text(object(group.values)[names[i]]))), group[metric].mean]) }] };
}
