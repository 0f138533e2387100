// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/grid_commands.h"

#include <fmt/format.h>

#include <cmath>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"

namespace convoy {

std::string grid_block(const ChartGrid& grid, bool positive) {
  check(grid.x.size() > 1 && grid.y.size() > 1, "a grid has at least two rows");
  check(grid.values.size() == grid.x.size() * grid.y.size(),
        "a grid has a value for each point");
  std::string rows;
  for (std::size_t row = 0; row < grid.y.size(); ++row) {
    for (std::size_t column = 0; column < grid.x.size(); ++column) {
      const double value = grid.values[row * grid.x.size() + column];
      rows += fmt::format("{} {} {}\n", gnuplot_number(grid.x[column]),
                          gnuplot_number(grid.y[row]), gnuplot_number(value, positive));
    }
    rows += "\n";
  }
  return data_block("grid", rows);
}

ValueRange drawn_range(const ChartGrid& grid, const ChartAxis& value) {
  const auto can_end = [&](const std::optional<double>& end) {
    return end && std::isfinite(*end) && (*end > 0 || !value.logarithmic);
  };
  ValueRange range = value_range(grid.values, value.logarithmic);
  if (value.logarithmic && range.low <= 0) range = {1, 1};
  if (can_end(value.low)) range.low = *value.low;
  if (can_end(value.high)) range.high = *value.high;
  if (!range.is_point()) return range;
  const double room = range.low == 0 ? 1 : std::abs(range.low) / 2;
  return {range.low - room, range.low + room};
}

std::string plane_commands(const ChartAxis& x, const ChartAxis& y,
                           const ChartGrid& grid) {
  const auto over = [](const ChartAxis& axis, const std::vector<double>& places) {
    return ChartAxis{.label = "",
                     .low = axis.low.value_or(places.front()),
                     .high = axis.high.value_or(places.back())};
  };
  return axis_commands("x", over(x, grid.x)) + axis_commands("y", over(y, grid.y));
}

std::string value_commands(std::string_view name, bool logarithmic,
                           const ValueRange& range, const std::vector<double>& ticks) {
  std::string commands = axis_commands(
      name,
      {.label = "", .logarithmic = logarithmic, .low = range.low, .high = range.high});
  if (ticks.empty()) return commands;
  std::string list;
  for (const double tick : ticks) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        gnuplot_tick(short_number(tick)), gnuplot_number(tick));
  }
  return commands + fmt::format("set {}tics ({})\n", name, list);
}

std::string colour_scale_commands(const Frame& frame, const Picture& picture) {
  return fmt::format("set colorbox user origin {},{} size {},{}\n",
                     frame.left / picture.width,
                     1 - (frame.top + frame.height) / picture.height,
                     frame.width / picture.width, frame.height / picture.height);
}

}  // namespace convoy
