// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_chart.h"

#include <algorithm>
#include <optional>
#include <set>

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kLogarithmicFrom = 20;  // the largest value over the smallest

/// The axis of one dimension, and where each row is on it.
struct PlacedAxis {
  ParallelAxis axis;
  std::vector<double> places;  // by row
};

std::vector<std::string> values_of_rows(const StudyPlan& plan, std::size_t dimension) {
  std::vector<std::string> values;
  for (const StudyRow& row : plan.rows) values.push_back(row.values[dimension]);
  return values;
}

/// Numbers keep their distances; other values are ticks.
PlacedAxis axis_of(const std::string& name, const std::vector<std::string>& values) {
  PlacedAxis result{.axis = {.name = name}, .places = {}};
  for (const std::string& value : values) {
    const std::optional<double> number = number_in(value);
    if (!number) break;
    result.places.push_back(*number);
  }
  if (result.places.size() == values.size()) {
    const auto [low, high] = std::ranges::minmax(result.places);
    result.axis.logarithmic = low > 0 && high >= kLogarithmicFrom * low;
    return result;
  }
  result.places.clear();
  for (const std::string& value : values) {
    std::vector<std::string>& ticks = result.axis.ticks;
    const auto found = std::ranges::find(ticks, value);
    result.places.push_back(static_cast<double>(found - ticks.begin()));
    if (found == ticks.end()) ticks.push_back(value);
  }
  return result;
}

std::vector<StudyGroup> drawn_groups(const StudyPlan& plan,
                                     const std::vector<RowResult>& results) {
  std::vector<StudyGroup> groups = ranked_groups(plan, results);
  std::erase_if(groups,
                [](const StudyGroup& one) { return one.state != RowState::done; });
  return groups;
}

}  // namespace

bool has_study_chart(const StudyPlan& plan, const std::vector<RowResult>& results) {
  return !std::ranges::all_of(plan.dimensions, is_repeated) &&
         drawn_groups(plan, results).size() > 1;
}

ParallelChart study_chart(const StudyPlan& plan, const std::vector<RowResult>& results) {
  const bool by_loss = plan.metric == BestMetric::loss;
  const std::string score = plan.split + " " + choice_name(plan.metric);
  ParallelChart chart;
  chart.head = {plan.folder.filename().string(), score};
  std::vector<PlacedAxis> placed;
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    if (is_repeated(plan.dimensions[d])) continue;
    placed.push_back(axis_of(plan.dimensions[d], values_of_rows(plan, d)));
    chart.axes.push_back(placed.back().axis);
  }
  chart.axes.push_back({.name = score});
  for (const StudyGroup& group : drawn_groups(plan, results)) {
    std::vector<double> line;
    for (const PlacedAxis& one : placed) line.push_back(one.places[group.rows.front()]);
    line.push_back(by_loss ? group.loss.mean : group.accuracy.mean);
    chart.lines.push_back(line);
  }
  return chart;
}

}  // namespace convoy
