// SPDX-License-Identifier: Apache-2.0
//
// Contour lines with paths over them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/plot/contour_labels.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/grid_commands.h"

namespace convoy {
namespace {

constexpr double kPlaneWidth = 640, kPlaneLeft = 84, kPlaneRight = 110,
                 kPlaneHeight = 430;
constexpr std::size_t kSmoothPoints = 60;  // of a side, between which colours change
constexpr int kStar = 3, kRing = 6, kDot = 7;

/// Blue where values are low, white where they are high: lines and paths stay visible.
constexpr std::string_view kPlanePalette =
    "set palette defined (0 '#6baed6', 0.5 '#c6dbef', 1 '#ffffff')\n";

std::string level_commands(const std::vector<double>& levels) {
  std::vector<std::string> texts;
  for (const double level : levels) texts.push_back(gnuplot_number(level));
  return fmt::format(
      "set contour base\nset cntrparam linear\nset cntrlabel onecolor\n"
      "set cntrparam levels discrete {}\n",
      join(texts));
}

std::string label_commands(const ContourLabel& label) {
  return fmt::format(
      "set label {} at {},{} center front boxed font \",8\" textcolor rgb "
      "'{}'\n",
      gnuplot_text(short_number(label.level)), gnuplot_number(label.x),
      gnuplot_number(label.y), kInk);
}

bool is_drawn(const ChartPath& path) {
  for (std::size_t i = 0; i < path.x.size(); ++i) {
    if (std::isfinite(path.x[i]) && std::isfinite(path.y[i])) return true;
  }
  return false;
}

std::string path_block(const ChartPath& path, std::size_t number) {
  check(path.x.size() == path.y.size(), "a point has two coordinates");
  std::string rows;
  for (std::size_t i = 0; i < path.x.size(); ++i) {
    rows += fmt::format("{} {}\n", gnuplot_number(path.x[i]), gnuplot_number(path.y[i]));
  }
  return data_block(fmt::format("p{}", number), rows);
}

LineStyle path_style(std::size_t number) {
  return {.colour = series_colour(number + 1),  // the first is the plane's blue
          .dashes = number < 7 ? "1" : "(6,3)",
          .point = kDot};
}

/// A line with a dot per point, a ring around the first, a larger dot at the last. `z` is
/// where they are on the axis of values, which is seen from above.
std::string path_plots(const ChartPath& path, std::size_t number, double z) {
  const LineStyle style = path_style(number);
  const std::string data = fmt::format("$p{} using 1:2:({})", number, gnuplot_number(z));
  const auto end = [&](std::size_t point, int type, double size) {
    return fmt::format(
        ", \\\n  {} every ::{}::{} with points linecolor rgb '{}' linewidth "
        "1.6 pointtype {} pointsize {} nocontour",
        data, point, point, style.colour, type, size);
  };
  return fmt::format(
             ", \\\n  {} with linespoints linecolor rgb '{}' linewidth 1.6 dashtype {} "
             "pointtype {} pointsize 0.4 nocontour",
             data, style.colour, style.dashes, kDot) +
         end(0, kRing, 1.2) + end(path.x.size() - 1, kDot, 1.1);
}

bool has_minimum(const ContourChart& chart) {
  return chart.minimum && std::isfinite((*chart.minimum)[0]) &&
         std::isfinite((*chart.minimum)[1]);
}

const LineStyle kMinimumStyle{
    .colour = std::string(kInk), .dashes = "1", .point = kStar, .line = false};

Legend legend_of(const ContourChart& chart) {
  Legend legend;
  for (std::size_t i = 0; i < chart.paths.size(); ++i) {
    if (is_drawn(chart.paths[i])) legend.add(chart.paths[i].name, path_style(i));
  }
  if (has_minimum(chart)) legend.add("minimum", kMinimumStyle);
  return legend;
}

/// The blocks of data and the plot command.
std::string plane_plots(const ContourChart& chart, double z, bool has_levels) {
  std::string blocks = grid_block(chart.grid, chart.value.logarithmic);
  std::string plots = "splot $grid using 1:2:3 with pm3d nocontour";
  if (has_levels) {
    plots +=
        ", \\\n  $grid using 1:2:3 with lines nosurface linecolor rgb '#666666' "
        "linewidth 0.6";
  }
  for (std::size_t i = 0; i < chart.paths.size(); ++i) {
    if (!is_drawn(chart.paths[i])) continue;
    blocks += path_block(chart.paths[i], i);
    plots += path_plots(chart.paths[i], i, z);
  }
  if (has_minimum(chart)) {
    blocks += data_block(
        "minimum", fmt::format("{} {}\n", (*chart.minimum)[0], (*chart.minimum)[1]));
    plots += fmt::format(
        ", \\\n  $minimum using 1:2:({}) with points linecolor rgb '{}' "
        "linewidth 1.6 pointtype {} pointsize 1.6 nocontour",
        gnuplot_number(z), kInk, kStar);
  }
  return blocks + plots + "\n";
}

/// How often each step of the grid is divided, so that its colours change smoothly.
std::size_t divisions(std::size_t points) {
  return std::max<std::size_t>(1, kSmoothPoints / points);
}

std::string plane_style(const ContourChart& chart, const Frame& frame,
                        const Picture& picture) {
  return fmt::format(
             "set view map\nset tics out nomirror\nset xtics offset 0,0.8\nset pm3d "
             "interpolate {},{}\n"
             "set style textbox opaque noborder fillcolor '#30ffffff' margins "
             "0.1,0.1\n",
             divisions(chart.grid.x.size()), divisions(chart.grid.y.size())) +
         std::string(kPlanePalette) +
         colour_scale_commands(
             {frame.left + frame.width + 16, frame.top, 14, frame.height}, picture) +
         side_label(chart.value.label, picture.width - 14, frame.top + frame.height / 2,
                    true, picture);
}

std::string level_lines(const ContourChart& chart, const std::vector<double>& levels) {
  if (levels.empty()) return "";
  std::string commands = level_commands(levels);
  for (const ContourLabel& label : contour_labels(chart.grid, levels, chart.paths)) {
    commands += label_commands(label);
  }
  return commands;
}

}  // namespace

Picture picture_of(const ContourChart& chart) {
  const bool log = chart.value.logarithmic;
  const ValueRange range = drawn_range(chart.grid, chart.value);
  const std::vector<double> levels =
      nice_levels(value_range(chart.grid.values, log), chart.levels, log);
  const Frame frame{kPlaneLeft, head_height(chart.head),
                    kPlaneWidth - kPlaneLeft - kPlaneRight, kPlaneHeight};
  const Legend legend = legend_of(chart);
  const double below = frame.top + frame.height + kBelowFrame;
  Picture picture{.width = kPlaneWidth, .height = below + legend.height(frame.width)};
  picture.commands =
      head_commands(chart.head, picture, kPlaneLeft) + frame_commands(frame, picture) +
      side_labels(chart.x, chart.y, frame, picture) +
      plane_commands(chart.x, chart.y, chart.grid) +
      value_commands("cb", log, range, levels) + value_commands("z", log, range, {}) +
      plane_style(chart, frame, picture) + level_lines(chart, levels) +
      legend.commands(kPlaneLeft, below, frame.width, picture) +
      plane_plots(chart, range.high, !levels.empty());
  return picture;
}

}  // namespace convoy
