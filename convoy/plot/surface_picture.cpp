// SPDX-License-Identifier: Apache-2.0
//
// A surface over a plane, seen from above at an angle.

#include <fmt/format.h>

#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/grid_commands.h"

namespace convoy {
namespace {

constexpr double kSurfaceWidth = 680, kSurfaceHeight = 500, kSurfaceScale = 90;

/// A label along its axis.
std::string axis_label(std::string_view name, const std::string& text) {
  return fmt::format("set {}label {} noenhanced rotate parallel textcolor rgb '{}'\n",
                     name, gnuplot_text(shortened(text, 300, kFont)), kGrey);
}

std::string surface_style(const Picture& picture) {
  return fmt::format(
             "unset key\nset view 55,35\nset xyplane relative 0.05\n"
             "set origin 0,0\nset size {},{}\n"
             "set tics out nomirror offset 0,-0.2 font \",9\" textcolor rgb '{}'\n"
             "set cbtics offset 0,0\n"
             "set pm3d depthorder border linecolor rgb '#555555' linewidth 0.2\n"
             "set border 31 linecolor rgb '{}'\n",
             1 - kSurfaceScale / picture.width, kSurfaceHeight / picture.height, kInk,
             kGrey) +
         std::string(kViridisPalette);
}

}  // namespace

Picture picture_of(const SurfaceChart& chart) {
  const bool log = chart.value.logarithmic;
  const ValueRange range = drawn_range(chart.grid, chart.value);
  const std::vector<double> ticks = nice_levels(range, 5, log);
  const double head = head_height(chart.head);
  Picture picture{.width = kSurfaceWidth, .height = head + kSurfaceHeight};
  picture.commands =
      head_commands(chart.head, picture, 40) + surface_style(picture) +
      plane_commands(chart.x, chart.y, chart.grid) + axis_label("x", chart.x.label) +
      axis_label("y", chart.y.label) + axis_label("z", chart.value.label) +
      value_commands("z", log, range, ticks) + value_commands("cb", log, range, ticks) +
      colour_scale_commands({kSurfaceWidth - kSurfaceScale, head + 120, 14, 260},
                            picture) +
      grid_block(chart.grid, log) + "splot $grid using 1:2:3 with pm3d\n";
  return picture;
}

}  // namespace convoy
