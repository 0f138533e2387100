// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "convoy/base/text.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

std::string seconds_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.2f} s", seconds) : human_duration(seconds);
}

std::string percent_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// The last part of the name, unless another setting ends in the same.
std::string short_name(const std::string& name, const std::vector<std::string>& all) {
  const auto last_part = [](const std::string& dotted) {
    return dotted.substr(dotted.rfind('.') + 1);
  };
  const auto same = std::ranges::count_if(
      all, [&](const std::string& other) { return last_part(other) == last_part(name); });
  return same > 1 || last_part(name) == "name" ? name : last_part(name);
}

/// The columns of a table, of which those without a cell are left out.
class Columns {
 public:
  using Cell = std::function<std::string(const ComparedRun&)>;

  explicit Columns(const Comparison& comparison) : comparison_(comparison) {}

  void add(const std::string& head, const Cell& cell, bool left = false) {
    TextColumn column{.head = head, .cells = {}, .left = left};
    bool any = false;
    for (const ComparedRun& each : comparison_.runs) {
      const std::string text = cell(each);
      any = any || !text.empty();
      column.cells.push_back(text.empty() ? "-" : text);
    }
    if (any) columns_.push_back(std::move(column));
  }

  /// Of finished runs; left out unless it differs.
  void add_if_different(const std::string& head, int RunResult::*number) {
    std::vector<int> values;
    for (const ComparedRun& each : comparison_.runs) {
      if (each.run.result) values.push_back((*each.run.result).*number);
    }
    if (values.empty() || std::ranges::count(values, values.front()) ==
                              static_cast<std::ptrdiff_t>(values.size())) {
      return;
    }
    add_result(head, [number](const RunResult& result) {
      return std::to_string(result.*number);
    });
  }

  void add_result(const std::string& head,
                  const std::function<std::string(const RunResult&)>& cell) {
    add(head, [&](const ComparedRun& each) {
      return each.run.result ? cell(*each.run.result) : "";
    });
  }

  void add_scores(const std::string& split) {
    add(split, [&](const ComparedRun& each) {
      const auto score = each.run.score(split);
      return score ? percent_text(score->accuracy) : "";
    });
    add(split + " loss", [&](const ComparedRun& each) {
      const auto score = each.run.score(split);
      return score ? fmt::format("{:.4f}", score->loss) : "";
    });
  }

  std::vector<TextColumn> take() { return std::move(columns_); }

 private:
  const Comparison& comparison_;
  std::vector<TextColumn> columns_;
};

void add_settings(Columns& columns, const Comparison& comparison, bool short_names) {
  for (std::size_t i = 0; i < comparison.settings.size(); ++i) {
    const std::string& name = comparison.settings[i];
    columns.add(short_names ? short_name(name, comparison.settings) : name,
                [i](const ComparedRun& each) { return each.settings[i]; });
  }
}

void add_state(Columns& columns, const Comparison& comparison) {
  const bool all_finished = std::ranges::all_of(
      comparison.runs,
      [](const ComparedRun& each) { return each.run.state == RunState::finished; });
  if (all_finished) return;
  columns.add(
      "state",
      [](const ComparedRun& each) { return std::string(name_of(each.run.state)); }, true);
}

void add_speed(Columns& columns, const Comparison& comparison) {
  columns.add("training", [](const ComparedRun& each) {
    const auto seconds = each.run.training_seconds();
    return seconds ? seconds_text(*seconds) : "";
  });
  columns.add_result("ms/step", [](const RunResult& result) {
    return fmt::format("{:.3g}", result.step_ms);
  });
  columns.add("images/s", [](const ComparedRun& each) {
    const auto speed = each.run.images_per_second();
    return speed ? with_commas(static_cast<std::uint64_t>(std::max(0.0, *speed))) : "";
  });
  if (comparison.target) {
    columns.add(fmt::format("to {:.4g} %", 100 * *comparison.target),
                [](const ComparedRun& each) {
                  return each.reached ? seconds_text(each.reached->seconds)
                                      : std::string("not reached");
                });
  }
  columns.add("speed-up", [](const ComparedRun& each) {
    return each.speedup ? fmt::format("{:.2f}x", *each.speedup) : "";
  });
}

void add_usage(Columns& columns) {
  columns.add_result("sent", [](const RunResult& result) {
    return result.bytes_sent == 0 ? "" : human_bytes(result.bytes_sent);
  });
  columns.add_result("memory/rank", [](const RunResult& result) {
    return human_bytes(result.peak_rss_bytes);
  });
  columns.add_result("weights", [](const RunResult& result) {
    return result.weights_sha256.substr(0, 8);
  });
}

json score_json(const std::optional<RunScore>& score) {
  if (!score) return nullptr;
  return {{"loss", score->loss}, {"accuracy", score->accuracy}};
}

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json reached_json(const std::optional<RunEvaluation>& reached) {
  if (!reached) return nullptr;
  return {{"seconds", reached->seconds},
          {"split", reached->split},
          {"epoch", reached->epoch},
          {"step", reached->step},
          {"accuracy", reached->score.accuracy}};
}

void add_result(json& object, const RunResult& result) {
  object["total_seconds"] = result.total_seconds;
  object["step_ms"] = result.step_ms;
  object["bytes_sent"] = result.bytes_sent;
  object["peak_rss_bytes"] = result.peak_rss_bytes;
  object["strategy"] = result.strategy;
  object["ranks"] = result.ranks;
  object["threads"] = result.threads;
  object["epochs"] = result.epochs;
  object["weights_sha256"] = result.weights_sha256;
  object["exit"] = {{"code", result.exit_code}, {"reason", result.exit_reason}};
}

json run_json(const ComparedRun& each, const std::vector<std::string>& names) {
  json settings = json::object();
  for (std::size_t i = 0; i < names.size(); ++i) settings[names[i]] = each.settings[i];
  json object = {{"name", each.name},
                 {"folder", each.run.folder.string()},
                 {"state", name_of(each.run.state)},
                 {"problems", each.run.problems},
                 {"settings", each.run.settings ? settings : json(nullptr)},
                 {"steps", each.run.result ? each.run.result->steps : each.run.last_step},
                 {"val", score_json(each.run.score("val"))},
                 {"test", score_json(each.run.score("test"))},
                 {"training_seconds", or_null(each.run.training_seconds())},
                 {"images_per_second", or_null(each.run.images_per_second())},
                 {"reached", reached_json(each.reached)},
                 {"speedup", or_null(each.speedup)}};
  if (each.run.result) add_result(object, *each.run.result);
  return object;
}

ChartSeries series_of(const ComparedRun& each) {
  const bool validated = each.run.score("val").has_value();
  ChartSeries series{.name = each.name, .x = {}, .y = {}, .dots = true};
  for (const RunEvaluation& evaluation : each.run.evaluations) {
    if (evaluation.split != (validated ? "val" : "test")) continue;
    series.x.push_back(evaluation.seconds);
    series.y.push_back(100 * evaluation.score.accuracy);
  }
  return series;
}

}  // namespace

std::vector<TextColumn> comparison_columns(const Comparison& comparison,
                                           bool short_names) {
  Columns columns(comparison);
  columns.add(
      "run", [](const ComparedRun& each) { return each.name; }, true);
  add_settings(columns, comparison, short_names);
  add_state(columns, comparison);
  columns.add_if_different("ranks", &RunResult::ranks);
  columns.add_if_different("threads", &RunResult::threads);
  columns.add_scores("test");
  columns.add_scores("val");
  add_speed(columns, comparison);
  add_usage(columns);
  return columns.take();
}

std::string comparison_notes(const Comparison& comparison) {
  std::string notes;
  for (const ComparedRun& each : comparison.runs) {
    const RunRecord& run = each.run;
    if (run.state == RunState::finished) continue;
    notes += fmt::format("{}: {}", each.name, name_of(run.state));
    if (run.last_step > 0)
      notes += fmt::format(" at step {}", with_commas(run.last_step));
    if (run.result && run.result->exit_code != 0) notes += ", " + run.result->exit_reason;
    notes += "\n";
    for (const std::string& problem : run.problems) notes += "  " + problem + "\n";
  }
  return notes;
}

json comparison_json(const Comparison& comparison) {
  json runs = json::array();
  for (const ComparedRun& each : comparison.runs) {
    runs.push_back(run_json(each, comparison.settings));
  }
  return {{"target", or_null(comparison.target)},
          {"settings", comparison.settings},
          {"runs", std::move(runs)}};
}

LineChart comparison_chart(const Comparison& comparison) {
  LineChart chart{.head = {.title = "Accuracy by training time",
                           .note = "evaluations during training, whose time is left out"},
                  .x = {.label = "training time, seconds"},
                  .y = {.label = "accuracy, %"},
                  .series = {}};
  for (const ComparedRun& each : comparison.runs) chart.series.push_back(series_of(each));
  if (!comparison.target) return chart;
  std::optional<ChartMark> first;
  for (const ComparedRun& each : comparison.runs) {
    if (!each.reached || (first && first->x <= each.reached->seconds)) continue;
    first = {.x = each.reached->seconds,
             .name = fmt::format("{:.4g} % reached first: {}", 100 * *comparison.target,
                                 each.name)};
  }
  chart.mark = first;
  return chart;
}

}  // namespace convoy
