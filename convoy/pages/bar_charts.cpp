// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/bar_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "convoy/pages/line_charts.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostBars = 60;

/// A number of an object that may be anything; 0 if it is none.
double number_at(const json& object, const char* name) {
  const json& value = field_of(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

void add_bar(BarChart& chart, const std::string& name, double value) {
  if (chart.names.size() == kMostBars) return;
  chart.names.push_back(name);
  chart.values.push_back(value);
}

/// The same parts as the page has (web/details.js).
void add_time(const json& summary, std::vector<PageChart>& charts) {
  const json& seconds = field_of(summary, "seconds");
  const auto of = [&](const char* name) { return number_at(seconds, name); };
  const double waiting = of("exposed_communication") + of("waiting_for_data");
  const double aside = of("evaluating") + of("checkpointing");
  if (!(of("total") > 0)) return;
  BarChart chart{.head = {.title = "Where the time went", .note = ""},
                 .value = "seconds"};
  add_bar(chart, "Computing", std::max(0.0, of("training") - waiting));
  add_bar(chart, "Waiting for other ranks", of("exposed_communication"));
  add_bar(chart, "Waiting for data", of("waiting_for_data"));
  add_bar(chart, "Evaluating", of("evaluating"));
  add_bar(chart, "Checkpointing", of("checkpointing"));
  add_bar(chart, "Other", std::max(0.0, of("total") - of("training") - aside));
  charts.push_back({"time", std::move(chart)});
}

void add_staleness(const json& summary, std::vector<PageChart>& charts) {
  BarChart chart{.head = {.title = "How stale updates were",
                          .note = "updates between a worker's pull and its push"},
                 .value = "updates"};
  for (const json& bin : field_of(field_of(summary, "staleness"), "histogram")) {
    const double from = number_at(bin, "from"), to = number_at(bin, "to");
    add_bar(chart,
            from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to),
            number_at(bin, "updates"));
  }
  if (!chart.names.empty()) charts.push_back({"staleness-histogram", std::move(chart)});
}

struct SpeedKind {
  const char* id;
  const char* title;
  const char* unit;
  std::function<double(const json&)> value;  // of a run; 0: unknown
};

const std::vector<SpeedKind>& speed_kinds() {
  constexpr double kMiB = 1.0 / (1 << 20);
  static const std::vector<SpeedKind> kinds = {
      {"speed-up", "Speed-up", "images per second against the first run",
       [](const json& run) { return number_at(run, "speedup"); }},
      {"sent-per-step", "Sent per step", "MiB, by all ranks together",
       [](const json& run) {
         const double steps = number_at(run, "steps");
         return steps > 0 ? kMiB * number_at(run, "bytes_sent") / steps : 0;
       }},
      {"mean-step-time", "Time of a step", "milliseconds",
       [](const json& run) { return number_at(run, "step_ms"); }},
      {"peak-memory", "Peak memory", "MiB, of the rank that took most",
       [](const json& run) { return kMiB * number_at(run, "peak_rss_bytes"); }}};
  return kinds;
}

}  // namespace

void add_run_bars(const json& run, std::vector<PageChart>& charts) {
  const json& summary = field_of(run, "summary");
  add_time(summary, charts);
  add_staleness(summary, charts);
}

void add_comparison_bars(const json& comparison, std::vector<PageChart>& charts) {
  for (const SpeedKind& kind : speed_kinds()) {
    BarChart chart{.head = {.title = kind.title, .note = ""}, .value = kind.unit};
    for (const json& run : field_of(comparison, "runs")) {
      if (const double value = kind.value(run); value > 0) {
        add_bar(chart, text_of(run, "name"), value);
      }
    }
    if (chart.names.size() > 1) charts.push_back({kind.id, std::move(chart)});
  }
}

}  // namespace convoy
