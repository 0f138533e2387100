// SPDX-License-Identifier: Apache-2.0
//
// Parallel axes: one line per run through all of them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/levels.h"
#include "convoy/plot/picture.h"

namespace convoy {
namespace {

constexpr double kLeastGap = 120, kMostGap = 240, kParallelHeight = 320;
constexpr std::size_t kMostNamedTicks = 12;

/// One axis: where its values are, from 0 to 1.
class AxisScale {
 public:
  AxisScale(const ParallelChart& chart, std::size_t number)
      : axis_(chart.axes[number]), values_(values_on(chart, number)) {
    range_ = axis_.ticks.empty()
                 ? value_range(values_, axis_.logarithmic)
                 : ValueRange{0, static_cast<double>(axis_.ticks.size() - 1)};
  }

  /// Not a number for what is not on the axis.
  double place(double value) const {
    if (range_.is_point()) return std::isfinite(value) ? 0.5 : value;
    if (!axis_.logarithmic) return (value - range_.low) / (range_.high - range_.low);
    return std::log(value / range_.low) / std::log(range_.high / range_.low);
  }

  struct Tick {
    double place;
    std::string text;
  };

  std::vector<Tick> ticks() const {
    std::vector<Tick> ticks;
    if (!axis_.ticks.empty()) {
      for (std::size_t i = 0; i < axis_.ticks.size(); ++i) {
        ticks.push_back({place(static_cast<double>(i)), axis_.ticks[i]});
      }
      return ticks;
    }
    for (const double value : tick_values()) {
      ticks.push_back({place(value), short_number(value)});
    }
    return ticks;
  }

  const ValueRange& range() const { return range_; }

 private:
  static std::vector<double> values_on(const ParallelChart& chart, std::size_t number) {
    std::vector<double> values;
    for (const auto& line : chart.lines) values.push_back(line.at(number));
    return values;
  }

  /// The values themselves if they are few, otherwise numbers that are easy to read.
  std::vector<double> tick_values() const {
    std::vector<double> values = values_;
    std::erase_if(values, [&](double v) {
      return !std::isfinite(v) || (axis_.logarithmic && v <= 0);
    });
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() <= 5) return values;
    std::vector<double> nice = nice_levels(range_, 4, axis_.logarithmic);
    std::erase_if(nice, [&](double v) { return place(v) < 0.06 || place(v) > 0.94; });
    nice.insert(nice.begin(), range_.low);
    nice.push_back(range_.high);
    return nice;
  }

  const ParallelAxis& axis_;
  std::vector<double> values_;
  ValueRange range_;
};

/// Places and the line's colour, one row per axis.
std::string line_rows(const std::vector<double>& line,
                      const std::vector<AxisScale>& scales) {
  std::string rows;
  for (std::size_t i = 0; i < line.size(); ++i) {
    rows += fmt::format("{} {} {}\n", i, gnuplot_number(scales[i].place(line[i])),
                        gnuplot_number(line.back()));
  }
  return rows + "\n";
}

/// The blocks $lines and $failed: those that have a value on the last axis, which is
/// their colour, and those that have none.
std::string line_blocks(const ParallelChart& chart, const std::vector<AxisScale>& scales,
                        std::string& plots) {
  std::string good, failed;
  for (const std::vector<double>& line : chart.lines) {
    (std::isfinite(scales.back().place(line.back())) ? good : failed) +=
        line_rows(line, scales);
  }
  plots = "plot NaN notitle";
  if (!failed.empty()) {
    plots += fmt::format(
        ", $failed using 1:2 with lines linecolor rgb '{}' dashtype "
        "(4,3)",
        kPale);
  }
  if (!good.empty())
    plots += ", $lines using 1:2:3 with lines linewidth 1.4 linecolor palette";
  return (good.empty() ? "" : data_block("lines", good)) +
         (failed.empty() ? "" : data_block("failed", failed));
}

/// From one axis to the next, so that names fit.
double axis_gap(const ParallelChart& chart) {
  double gap = kLeastGap;
  for (const ParallelAxis& axis : chart.axes) {
    gap = std::max(gap, text_pixels(axis.name, kFont) + 24);
  }
  return std::min(gap, kMostGap);
}

std::string tick_commands(std::size_t number, const AxisScale::Tick& tick, double gap) {
  return fmt::format(
      "set label {} at {},{} left offset char 0.6,0 noenhanced front boxed font "
      "\",9\" textcolor rgb '{}'\n"
      "set arrow from {},{} to {},{} nohead linecolor rgb '{}'\n",
      gnuplot_text(shortened(tick.text, gap - 20, 9)), number, gnuplot_number(tick.place),
      kInk, number, gnuplot_number(tick.place), static_cast<double>(number) + 0.03,
      gnuplot_number(tick.place), kGrey);
}

std::string axis_lines(const ParallelAxis& axis, std::size_t number,
                       const AxisScale& scale, double gap) {
  std::string commands = fmt::format(
      "set arrow from {0},0 to {0},1 nohead front linecolor rgb '{1}'\n"
      "set label {2} at {0},1 center offset char 0,1.1 noenhanced textcolor rgb '{3}'\n",
      number, kGrey, gnuplot_text(shortened(axis.name, gap - 16, kFont)), kInk);
  const std::vector<AxisScale::Tick> ticks = scale.ticks();
  const std::size_t every = ticks.size() / (kMostNamedTicks + 1) + 1;
  for (std::size_t i = 0; i < ticks.size(); i += every) {
    if (std::isfinite(ticks[i].place)) commands += tick_commands(number, ticks[i], gap);
  }
  return commands;
}

std::string colour_commands(const ParallelChart& chart, const AxisScale& last) {
  const bool log = chart.axes.back().logarithmic;
  const ValueRange range = last.range();
  std::string commands = std::string(kViridisPalette) + "unset colorbox\n";
  if (range.is_point()) return commands;
  return commands +
         axis_commands(
             "cb",
             {.label = "", .logarithmic = log, .low = range.low, .high = range.high});
}

}  // namespace

Picture picture_of(const ParallelChart& chart) {
  check(chart.axes.size() > 1, "there are at least two parallel axes");
  for (const auto& line : chart.lines) {
    check(line.size() == chart.axes.size(), "a line has a value on each axis");
  }
  std::vector<AxisScale> scales;
  for (std::size_t i = 0; i < chart.axes.size(); ++i) scales.emplace_back(chart, i);
  const double gap = axis_gap(chart);
  const double width = gap * static_cast<double>(chart.axes.size() - 1);
  const Frame frame{gap / 2, head_height(chart.head) + 26, width, kParallelHeight};
  Picture picture{.width = width + gap, .height = frame.top + frame.height + 24};
  picture.commands = head_commands(chart.head, picture, 24) +
                     frame_commands(frame, picture) +
                     fmt::format(
                         "unset key\nunset border\nunset tics\nset xrange [0:{}]\n"
                         "set yrange [0:1]\n"
                         "set style textbox opaque noborder fillcolor "
                         "'#40ffffff' margins 0.2,0.1\n",
                         chart.axes.size() - 1) +
                     colour_commands(chart, scales.back());
  for (std::size_t i = 0; i < chart.axes.size(); ++i) {
    picture.commands += axis_lines(chart.axes[i], i, scales[i], gap);
  }
  std::string plots;
  picture.commands += line_blocks(chart, scales, plots);
  picture.commands += plots + "\n";
  return picture;
}

}  // namespace convoy
