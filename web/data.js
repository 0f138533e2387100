// SPDX-License-Identifier: Apache-2.0
//
// The page's data, and curves of it by step, epoch or time.

function readPageData() {
  const element = document.getElementById("page-data");
  return object(element ? JSON.parse(element.textContent) : {});
}

/** Gives every curve its own x: a number in its place names the curve that has the same. */
function prepareRun(run) {
  const all = list(run.series);
  for (const series of all) {
    if (isNumber(series.x)) series.x = list(object(all[series.x]).x);
  }
  return run;
}

/** The curve of a run with that name, of a rank or of the job; or null. */
function seriesOf(run, name, rank) {
  return list(run.series).find((series) =>
    series.name === name && (rank === undefined ? series.rank === undefined
                                                : series.rank === rank)) || null;
}

/** All curves of that name that belong to ranks, by rank. */
function rankSeries(run, name) {
  return list(run.series).filter((series) => series.name === name && isNumber(series.rank))
    .sort((a, b) => a.rank - b.rank);
}

/** Where `x` lies between ascending places, on the other axis. */
function interpolated(from, to, x) {
  let low = 0, high = from.length - 1;
  if (high < 1) return x;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= x) low = middle; else high = middle;
  }
  const width = from[high] - from[low];
  return width > 0 ? to[low] + (x - from[low]) / width * (to[high] - to[low]) : to[low];
}

const X_KINDS = {
  step: { label: "step", title: "Step" },
  epoch: { label: "epoch", title: "Epoch" },
  seconds: { label: "training time, seconds", title: "Time" },
};

/** The x values of a series on an axis: "step", "epoch" or "seconds". */
function xValues(run, series, kind) {
  const xs = list(series.x);
  if (series.by === "seconds" || kind === "step") return xs;
  const places = object(run.places);
  return xs.map((x) => interpolated(list(places.step), list(places[kind]), x));
}

/** Exponential moving average without bias, as TensorBoard smooths. */
function smoothed(ys, weight) {
  if (weight <= 0) return ys;
  let last = 0, count = 0;
  return ys.map((y) => {
    if (!isNumber(y)) return null;
    last = last * weight + (1 - weight) * y;
    count += 1;
    return last / (1 - Math.pow(weight, count));
  });
}

/** The point of least loss on the validation set, or on the test set without one. */
function leastLoss(run) {
  for (const split of ["val", "test"]) {
    const series = seriesOf(run, split + "/loss");
    if (!series) continue;
    let best = null;
    list(series.y).forEach((y, i) => {
      if (isNumber(y) && (best === null || y < best.loss)) {
        best = { loss: y, step: series.x[i], split };
      }
    });
    if (best && list(series.y).length > 1) return best;
  }
  return null;
}

const SPLIT_NAMES = { train: "training", val: "validation", test: "test" };
const splitName = (split) => SPLIT_NAMES[split] || split;
