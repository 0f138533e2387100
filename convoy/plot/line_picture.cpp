// SPDX-License-Identifier: Apache-2.0
//
// Lines over two axes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/picture.h"

namespace convoy {
namespace {

constexpr double kLinesWidth = 640, kLinesLeft = 84, kLinesRight = 24, kLinesHeight = 340;

/// Whether a point would be drawn.
bool is_drawn(double value, const ChartAxis& axis) {
  return gnuplot_number(value, axis.logarithmic) != "NaN";
}

bool is_empty(const ChartSeries& series, const LineChart& chart) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (is_drawn(series.x[i], chart.x) && is_drawn(series.y[i], chart.y)) return false;
  }
  return true;
}

std::string rows_of(const ChartSeries& series, const LineChart& chart) {
  std::string rows;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    rows +=
        fmt::format("{} {} {}\n", gnuplot_number(series.x[i], chart.x.logarithmic),
                    gnuplot_number(series.y[i], chart.y.logarithmic),
                    series.deviation.empty() ? "0" : gnuplot_number(series.deviation[i]));
  }
  return rows;
}

LineStyle style_of(const ChartSeries& series, std::size_t number) {
  const auto colour = series.colour ? static_cast<std::size_t>(*series.colour) : number;
  return {.colour = series_colour(colour),
          .dashes = series.dashed ? "(6,4)" : "1",
          .point = !series.dots    ? 0
                   : series.dashed ? 6
                                   : 7,
          .line = series.line};
}

/// The plots of one series, whose data is in the block $s<number>.
std::string plots_of(const ChartSeries& series, std::size_t number) {
  const LineStyle style = style_of(series, number);
  std::string plots = fmt::format(
      ", \\\n  $s{} using 1:2 with {} linecolor rgb '{}' linewidth 1.8 dashtype {} "
      "pointtype {} pointsize 0.6",
      number,
      !series.line  ? "points"
      : series.dots ? "linespoints"
                    : "lines",
      style.colour, style.dashes, style.point);
  if (series.deviation.empty()) return plots;
  return plots + fmt::format(
                     ", \\\n  $s{} using 1:($2-$3):(0):(2*$3) with vectors nohead "
                     "linecolor rgb '{}' linewidth 1.2",
                     number, style.colour);
}

std::string mark_commands(const ChartMark& mark) {
  return fmt::format(
      "set arrow from {0}, graph 0 to {0}, graph 1 nohead back linewidth "
      "1.2 linecolor rgb '{1}' dashtype (2,3)\n",
      gnuplot_number(mark.x), kGrey);
}

/// All blocks and the plot command. A chart without a point has its axes.
std::string plot_commands(const LineChart& chart) {
  std::string blocks, plots;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (is_empty(chart.series[i], chart)) continue;
    blocks += data_block(fmt::format("s{}", i), rows_of(chart.series[i], chart));
    plots += plots_of(chart.series[i], i);
  }
  if (plots.empty()) blocks += "set xrange [1:2]\nset yrange [1:2]\n";
  return blocks + "plot NaN" + plots + "\n";
}

Legend legend_of(const LineChart& chart, bool marked) {
  Legend legend;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const ChartSeries& series = chart.series[i];
    if (!is_empty(series, chart)) legend.add(series.name, style_of(series, i));
  }
  if (marked && !chart.mark->name.empty()) {
    legend.add(chart.mark->name, {.colour = std::string(kGrey), .dashes = "(2,3)"});
  }
  return legend;
}

/// All x, or all y, of the chart.
std::vector<double> all_values(const LineChart& chart,
                               std::vector<double> ChartSeries::*places) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    values.insert(values.end(), (series.*places).begin(), (series.*places).end());
  }
  return values;
}

void check_series(const LineChart& chart) {
  for (const ChartSeries& series : chart.series) {
    check(series.x.size() == series.y.size(), "a point has two coordinates");
    check(series.deviation.empty() || series.deviation.size() == series.y.size(),
          "a point has a deviation");
  }
}

}  // namespace

Picture picture_of(const LineChart& chart) {
  check_series(chart);
  const bool marked = chart.mark && is_drawn(chart.mark->x, chart.x);
  const Frame frame{kLinesLeft, head_height(chart.head),
                    kLinesWidth - kLinesLeft - kLinesRight, kLinesHeight};
  const Legend legend = legend_of(chart, marked);
  const double below = frame.top + frame.height + kBelowFrame;
  Picture picture{.width = kLinesWidth, .height = below + legend.height(frame.width)};
  picture.commands = head_commands(chart.head, picture, kLinesLeft) +
                     frame_commands(frame, picture) +
                     side_labels(chart.x, chart.y, frame, picture) +
                     axis_commands("x", chart.x, all_values(chart, &ChartSeries::x)) +
                     axis_commands("y", chart.y, all_values(chart, &ChartSeries::y)) +
                     "set border 3\nset tics out nomirror\nset grid linecolor rgb "
                     "'#cccccc' linewidth 0.5 dashtype 1\n" +
                     legend.commands(kLinesLeft, below, frame.width, picture);
  if (marked) picture.commands += mark_commands(*chart.mark);
  picture.commands += plot_commands(chart);
  return picture;
}

}  // namespace convoy
