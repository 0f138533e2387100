// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page_charts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "convoy/base/base64.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/pages/bar_charts.h"
#include "convoy/pages/line_charts.h"
#include "convoy/plot/plot.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// The rows of a table of numbers; nothing unless all have `width` numbers.
std::optional<std::vector<double>> table_of(const json& rows, std::size_t width) {
  std::vector<double> values;
  for (const json& row : rows) {
    if (!row.is_array() || row.size() != width) return {};
    for (const double value : numbers_of(row)) values.push_back(value);
  }
  return values;
}

void add_confusion(const json& run, std::vector<PageChart>& charts) {
  const json& evaluation = field_of(run, "evaluation");
  HeatMap map{.head = {.title = "Confusion matrix", .note = ""},
              .row_axis = "true",
              .column_axis = "predicted"};
  for (const json& one : field_of(evaluation, "classes")) {
    map.rows.push_back(text_of(one, "name"));
  }
  map.columns = map.rows;
  const json& matrix = field_of(evaluation, "confusion_matrix");
  const auto counts = table_of(matrix, map.rows.size());
  if (!counts || map.rows.empty() || matrix.size() != map.rows.size()) return;
  for (const double count : *counts) {
    map.counts.push_back(count > 0 && count < 1e18 ? static_cast<std::uint64_t>(count)
                                                   : 0);
  }
  charts.push_back({"confusion", std::move(map)});
}

ChartPath path_of(const json& run) {
  ChartPath path{.name = text_of(run, "name")};
  for (const json& save : field_of(run, "saves")) {
    const json& x = field_of(save, "x");
    const json& y = field_of(save, "y");
    if (!x.is_number() || !y.is_number()) continue;
    path.x.push_back(x.get<double>());
    path.y.push_back(y.get<double>());
  }
  return path;
}

bool is_ascending(const std::vector<double>& values) {
  return values.size() > 1 && std::ranges::adjacent_find(values, [](double a, double b) {
                                return !(a < b);
                              }) == values.end();
}

void add_landscape(const json& run, std::vector<PageChart>& charts) {
  const json& landscape = field_of(run, "landscape");
  ChartGrid grid{.x = numbers_of(field_of(landscape, "x")),
                 .y = numbers_of(field_of(landscape, "y"))};
  const json& rows = field_of(landscape, "loss");
  const auto values = table_of(rows, grid.x.size());
  if (!values || !is_ascending(grid.x) || !is_ascending(grid.y) ||
      rows.size() != grid.y.size()) {
    return;
  }
  grid.values = *values;
  const ChartAxis loss{.label = "loss", .logarithmic = true};
  const ChartHead head{.title = "Loss landscape", .note = ""};
  ContourChart contours{.head = head, .value = loss, .grid = grid};
  for (const json& one : field_of(landscape, "runs")) {
    contours.paths.push_back(path_of(one));
  }
  charts.push_back({"landscape", std::move(contours)});
  charts.push_back(
      {kSurfaceChart, SurfaceChart{.head = head, .value = loss, .grid = grid}});
}

/// An axis of a study and where its groups are on it: numbers keep their distances, other
/// values are ticks.
void place_values(const std::vector<std::string>& values, ParallelAxis& axis,
                  std::vector<std::vector<double>>& lines) {
  const bool numeric = std::ranges::all_of(
      values, [](const std::string& value) { return number_in(value).has_value(); });
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (numeric) {
      lines[i].push_back(*number_in(values[i]));
      continue;
    }
    const auto tick = std::ranges::find(axis.ticks, values[i]);
    lines[i].push_back(static_cast<double>(tick - axis.ticks.begin()));
    if (tick == axis.ticks.end()) axis.ticks.push_back(values[i]);
  }
}

void add_sweep(const json& sweep, std::vector<PageChart>& charts) {
  const std::string score = text_of(sweep, "score");
  ParallelChart chart{.head = {.title = text_of(sweep, "name"), .note = ""}};
  std::vector<const json*> groups;
  for (const json& group : field_of(sweep, "groups")) {
    if (field_of(field_of(group, score.c_str()), "mean").is_number()) {
      groups.push_back(&group);
    }
  }
  chart.lines.resize(groups.size());
  for (const json& name : field_of(sweep, "dimensions")) {
    if (!name.is_string()) return;
    std::vector<std::string> values;
    for (const json* group : groups) {
      const json& of_group = field_of(*group, "values");
      values.push_back(text_of(of_group, name.get<std::string>().c_str()));
    }
    if (std::ranges::all_of(values, [](const auto& one) { return one.empty(); }))
      continue;
    chart.axes.push_back({.name = name.get<std::string>()});
    place_values(values, chart.axes.back(), chart.lines);
  }
  if (groups.size() < 2 || chart.axes.empty()) return;
  chart.axes.push_back({.name = text_of(sweep, "split") + " " + score});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    chart.lines[i].push_back((*groups[i])[score]["mean"].get<double>());
  }
  charts.push_back({"parallel", std::move(chart)});
}

}  // namespace

std::vector<PageChart> page_charts(const json& page) {
  std::vector<PageChart> charts;
  const json& runs = page["runs"];
  if (runs.size() == 1) {
    add_run_lines(runs.front(), charts);
    add_run_bars(runs.front(), charts);
    add_confusion(runs.front(), charts);
    add_landscape(runs.front(), charts);
  } else {
    add_lines_of_runs(runs, charts);
    add_comparison_bars(field_of(page, "comparison"), charts);
  }
  add_sweep(field_of(page, "sweep"), charts);
  return charts;
}

std::vector<std::string> draw_pictures(const std::vector<PageChart>& charts,
                                       const std::filesystem::path& folder) {
  make_folders(folder);
  std::vector<std::string> names;
  for (const PageChart& one : charts) {
    for (const char* extension : {".png", ".svg"}) {
      names.push_back((folder / (one.id + extension)).string());
      draw(one.chart, names.back());
    }
  }
  return names;
}

json inline_pictures(const std::vector<PageChart>& charts) {
  json pictures = json::object();
  if (!plot_is_available()) return pictures;
  const TemporaryFolder folder;
  for (const PageChart& one : charts) {
    try {
      draw(one.chart, folder.path() / "picture.svg");
      pictures[one.id] = "data:image/svg+xml;base64," +
                         base64(read_bytes(folder.path() / "picture.svg"));
    } catch (const InputError&) {
      // A page without this picture still has the numbers.
    }
  }
  return pictures;
}

}  // namespace convoy
