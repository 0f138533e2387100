// SPDX-License-Identifier: Apache-2.0
//
// Bars, one below the other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/levels.h"
#include "convoy/plot/picture.h"

namespace convoy {
namespace {

constexpr double kBarsWidth = 640, kBarsRight = 90, kBarHeight = 24, kWidestName = 260;

double names_width(const BarChart& chart) {
  double width = 40;
  for (const std::string& name : chart.names) {
    width = std::max(width, text_pixels(name, kFont) + 16);
  }
  return std::min(width, kWidestName);
}

/// Zero if nothing is above it.
double largest_of(const BarChart& chart) {
  double largest = 0;
  for (const double value : chart.values) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

std::string name_ticks(const BarChart& chart, double width) {
  std::string ticks;
  for (std::size_t i = 0; i < chart.names.size(); ++i) {
    ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ",
                         gnuplot_tick(shortened(chart.names[i], width - 12, kFont)), i);
  }
  return fmt::format("set ytics scale 0 ({})\n", ticks);
}

/// A chart without bars has its axis.
std::string bar_commands(const BarChart& chart) {
  std::string rows;
  for (std::size_t i = 0; i < chart.values.size(); ++i) {
    if (!std::isfinite(chart.values[i])) continue;
    rows += fmt::format("{} {} {}\n", gnuplot_number(chart.values[i]), i,
                        short_number(chart.values[i]));
  }
  if (rows.empty()) return "plot NaN notitle\n";
  return data_block("bars", rows) +
         fmt::format(
             "plot $bars using (0):2:(0):1:($2-0.34):($2+0.34) with boxxyerror fillstyle "
             "solid noborder linecolor rgb '{}' notitle, \\\n"
             "  $bars using 1:2:(strcol(3)) with labels left offset 0.6,0 notitle\n",
             series_colour(0));
}

}  // namespace

Picture picture_of(const BarChart& chart) {
  check(chart.names.size() == chart.values.size(), "a bar has a name and a value");
  const auto count = static_cast<double>(std::max<std::size_t>(1, chart.names.size()));
  const double left = names_width(chart), largest = largest_of(chart);
  const Frame frame{left, head_height(chart.head), kBarsWidth - left - kBarsRight,
                    count * kBarHeight};
  Picture picture{.width = kBarsWidth, .height = frame.top + frame.height + kBelowFrame};
  picture.commands =
      head_commands(chart.head, picture, 24) + frame_commands(frame, picture) +
      side_labels({.label = chart.value}, {}, frame, picture) +
      fmt::format(
          "set border 1\nset xtics out nomirror\nset xrange [0:{}]\n"
          "set yrange [{}:-0.5]\nset grid xtics linecolor rgb '#cccccc' linewidth 0.5 "
          "dashtype 1\n",
          largest > 0 ? gnuplot_number(largest) : "1", count - 0.5) +
      name_ticks(chart, left) + bar_commands(chart);
  return picture;
}

}  // namespace convoy
