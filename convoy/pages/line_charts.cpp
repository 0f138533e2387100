// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/line_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostLines = 24;  // of one picture

struct LineKind {
  const char* id;
  const char* title;
  const char* unit;
  double scale;
  std::vector<std::pair<const char*, const char*>> curves;  // of the page, in the legend
};

const std::vector<LineKind>& run_kinds() {
  static const std::vector<LineKind> kinds = {
      {"loss",
       "Loss",
       "loss",
       1,
       {{"train/loss", "training"}, {"val/loss", "validation"}, {"test/loss", "test"}}},
      {"accuracy",
       "Accuracy",
       "accuracy, %",
       100,
       {{"train/accuracy", "training"},
        {"val/accuracy", "validation"},
        {"test/accuracy", "test"}}},
      {"learning-rate", "Learning rate", "rate", 1, {{"train/lr", "rate"}}},
      {"weight-norm", "Norm of the weights", "norm", 1, {{"train/weight_norm", "norm"}}},
      {"gradient-norm",
       "Norm of the gradients",
       "norm",
       1,
       {{"train/grad_norm", "norm"}}},
      {"images-per-second",
       "Images per second",
       "images per second",
       1,
       {{"perf/images_per_second", "speed"}}},
      {"step-time", "Time of a step", "milliseconds", 1, {{"perf/step_ms", "median"}}},
      {"staleness",
       "Staleness",
       "updates",
       1,
       {{"staleness/mean", "mean"}, {"staleness/max", "largest"}}}};
  return kinds;
}

/// Curves of which each rank has one.
const std::vector<LineKind>& rank_kinds() {
  constexpr double kMiB = 1.0 / (1 << 20);
  static const std::vector<LineKind> kinds = {
      {"own-compute", "Own compute per step", "milliseconds", 1, {{"perf/own_ms", ""}}},
      {"exposed",
       "Waiting for others per step",
       "milliseconds",
       1,
       {{"comm/exposed_ms", ""}}},
      {"cpu", "CPU", "% of one core", 1, {{"cpu/percent", ""}}},
      {"memory", "Memory", "MiB", kMiB, {{"mem/resident_bytes", ""}}},
      {"network-sent", "Sent", "MiB/s", kMiB, {{"net/sent_bytes_per_second", ""}}},
      {"network-received",
       "Received",
       "MiB/s",
       kMiB,
       {{"net/received_bytes_per_second", ""}}}};
  return kinds;
}

/// The curves of several runs, of which the first that a run has is drawn.
const std::vector<LineKind>& compared_kinds() {
  static const std::vector<LineKind> kinds = {
      {"train-loss", "Training loss", "loss", 1, {{"train/loss", ""}}},
      {"eval-loss", "Validation loss", "loss", 1, {{"val/loss", ""}, {"test/loss", ""}}},
      {"eval-accuracy",
       "Validation accuracy",
       "accuracy, %",
       100,
       {{"val/accuracy", ""}, {"test/accuracy", ""}}},
      {"images-per-second",
       "Images per second",
       "images per second",
       1,
       {{"perf/images_per_second", ""}}},
      {"learning-rate", "Learning rate", "rate", 1, {{"train/lr", ""}}}};
  return kinds;
}

/// The x of a series, which may be that of another.
std::vector<double> x_of(const json& run, const json& series) {
  const json& x = series["x"];
  return numbers_of(x.is_number() ? run["series"][x.get<std::size_t>()]["x"] : x);
}

ChartSeries line_of(const json& run, const json& series, double scale,
                    const std::string& name) {
  ChartSeries line{.name = name, .x = x_of(run, series), .y = numbers_of(series["y"])};
  for (double& y : line.y) y *= scale;
  line.dots = line.x.size() <= 30;
  return line;
}

LineChart chart_of(const LineKind& kind, bool by_seconds) {
  return {.head = {.title = kind.title, .note = ""},
          .x = {.label = by_seconds ? "seconds" : "step"},
          .y = {.label = kind.unit}};
}

void add_chart(const LineKind& kind, LineChart chart, std::vector<PageChart>& charts) {
  if (!chart.series.empty()) charts.push_back({kind.id, std::move(chart)});
}

LineChart curves_of(const json& run, const LineKind& kind) {
  LineChart chart = chart_of(kind, false);
  for (const auto& [name, label] : kind.curves) {
    for (const json& series : run["series"]) {
      if (series["name"] != name || series.contains("rank")) continue;
      chart.series.push_back(line_of(run, series, kind.scale, label));
    }
  }
  return chart;
}

LineChart curves_of_ranks(const json& run, const LineKind& kind) {
  LineChart chart = chart_of(kind, false);
  for (const json& series : run["series"]) {
    if (series["name"] != kind.curves.front().first || !series.contains("rank")) continue;
    if (chart.series.size() == kMostLines) break;
    if (series.contains("by")) chart.x.label = "seconds";
    chart.series.push_back(line_of(run, series, kind.scale,
                                   fmt::format("rank {}", series["rank"].get<int>())));
  }
  return chart;
}

/// A dot per record in which a worker of an asynchronous run pushed.
void add_pushes(const json& run, std::vector<PageChart>& charts) {
  if (field_of(field_of(run, "summary"), "staleness").is_null()) return;
  const LineKind kind{"pushes", "Who pushed when", "worker", 1, {}};
  LineChart chart = chart_of(kind, false);
  for (const json& series : run["series"]) {
    if (series["name"] != "perf/own_ms" || !series.contains("rank")) continue;
    const int worker = series["rank"].get<int>();
    ChartSeries line = line_of(run, series, 1, fmt::format("worker {}", worker));
    std::ranges::fill(line.y, worker);
    line.dots = true;
    line.line = false;
    line.colour = worker;
    chart.series.push_back(std::move(line));
  }
  std::ranges::sort(chart.series, {}, &ChartSeries::colour);
  if (chart.series.size() > 1) add_chart(kind, std::move(chart), charts);
}

/// Through the middles of the histogram's parts; nothing if it is none.
ChartSeries outline_of(const json& histogram) {
  const std::vector<double> counts = numbers_of(field_of(histogram, "counts"));
  const json& least = field_of(histogram, "least");
  const json& most = field_of(histogram, "most");
  ChartSeries line;
  if (!least.is_number() || !most.is_number()) return line;
  const double width =
      (most.get<double>() - least.get<double>()) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    line.x.push_back(least.get<double>() + (static_cast<double>(i) + 0.5) * width);
  }
  line.y = counts;
  return line;
}

/// One chart per tensor, with a line per epoch.
void add_histograms(const json& histograms, std::vector<PageChart>& charts) {
  const json& tensors = field_of(histograms, "tensors");
  const json& epochs = field_of(histograms, "epochs");
  for (std::size_t i = 0; i < std::min(tensors.size(), kMostLines); ++i) {
    LineChart chart{.head = {.title = text_of(tensors[i], "name"), .note = ""},
                    .x = {.label = "value"},
                    .y = {.label = "numbers"}};
    const json& records = field_of(tensors[i], "records");
    for (std::size_t at = 0; at < std::min(records.size(), epochs.size()); ++at) {
      chart.series.push_back(outline_of(records[at]));
      chart.series.back().name = "epoch " + epochs[at].dump();
    }
    charts.push_back({fmt::format("{}{}", kHistogramChart, i + 1), std::move(chart)});
  }
}

/// The first of the curves that the run has; null if it has none.
json first_curve(const json& run, const LineKind& kind) {
  for (const auto& [name, label] : kind.curves) {
    for (const json& series : run["series"]) {
      if (series["name"] == name) return series;
    }
  }
  return nullptr;
}

}  // namespace

const json& field_of(const json& object, const char* name) {
  static const json none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::vector<double> numbers_of(const json& list) {
  std::vector<double> numbers;
  for (const json& one : list) {
    numbers.push_back(one.is_number() ? one.get<double>()
                                      : std::numeric_limits<double>::quiet_NaN());
  }
  return numbers;
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return "";
  return found->get<std::string>();
}

void add_run_lines(const json& run, std::vector<PageChart>& charts) {
  for (const LineKind& kind : run_kinds()) add_chart(kind, curves_of(run, kind), charts);
  for (const LineKind& kind : rank_kinds()) {
    add_chart(kind, curves_of_ranks(run, kind), charts);
  }
  add_pushes(run, charts);
  add_histograms(field_of(run, "histograms"), charts);
}

void add_lines_of_runs(const json& runs, std::vector<PageChart>& charts) {
  for (const LineKind& kind : compared_kinds()) {
    LineChart chart = chart_of(kind, false);
    for (const json& run : runs) {
      const json series = first_curve(run, kind);
      if (series.is_null() || chart.series.size() == kMostLines) continue;
      chart.series.push_back(line_of(run, series, kind.scale, text_of(run, "id")));
    }
    if (runs.size() > kMostLines) {
      chart.head.note = fmt::format("the first {} of {} runs", kMostLines, runs.size());
    }
    add_chart(kind, std::move(chart), charts);
  }
}

}  // namespace convoy
