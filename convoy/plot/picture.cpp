// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoy/plot/gnuplot_text.h"
#include "convoy/plot/levels.h"

namespace convoy {
namespace {

constexpr double kMargin = 20, kLegendRow = 18, kLegendLine = 46, kMostLegendName = 300;
constexpr std::size_t kMostTicks = 8;

std::string range_end(const std::optional<double>& end, bool positive) {
  const std::string text = end ? gnuplot_number(*end, positive) : "NaN";
  return text == "NaN" ? "*" : text;
}

/// The axis with both ends, a little beyond the values.
ChartAxis with_ends(const ChartAxis& axis, std::span<const double> values) {
  const ValueRange range = value_range(values, true);
  if (range.high <= 0) return axis;
  const double room = range.is_point() ? 2 : std::pow(range.high / range.low, 0.04);
  ChartAxis ended = axis;
  ended.low = axis.low.value_or(range.low / room);
  ended.high = axis.high.value_or(range.high * room);
  return ended;
}

std::string logarithmic_commands(std::string_view name, const ChartAxis& axis) {
  std::string commands = fmt::format("set logscale {}\n", name);
  if (!axis.low || !axis.high) return commands;
  std::string ticks;
  for (const double tick : logarithmic_ticks({*axis.low, *axis.high}, kMostTicks)) {
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ",
                         gnuplot_tick(short_number(tick)), gnuplot_number(tick));
  }
  if (!ticks.empty()) commands += fmt::format("set {}tics ({})\n", name, ticks);
  return commands;
}

/// A part of a legend's entry, at its place on the picture.
std::string sample_commands(const LineStyle& style, double x, double y,
                            const Picture& picture) {
  const double height = 1 - y / picture.height;
  std::string commands;
  if (style.line) {
    commands += fmt::format(
        "set arrow from screen {},screen {} to screen {},screen {} nohead linewidth 1.8 "
        "linecolor rgb '{}' dashtype {}\n",
        x / picture.width, height, (x + 28) / picture.width, height, style.colour,
        style.dashes);
  }
  if (style.point == 0) return commands;
  return commands +
         fmt::format(
             "set label '' at screen {},screen {} point pointtype {} pointsize "
             "{} linewidth 1.6 linecolor rgb '{}'\n",
             (x + 14) / picture.width, height, style.point, style.line ? 0.6 : 1.6,
             style.colour);
}

std::string text_commands(const std::string& text, double x, double y,
                          const Picture& picture) {
  return fmt::format(
      "set label {} at screen {},screen {} left noenhanced textcolor rgb "
      "'{}'\n",
      gnuplot_text(text), x / picture.width, 1 - y / picture.height, kInk);
}

}  // namespace

std::string series_colour(std::size_t number) {
  static constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                          "#cc79a7", "#e69f00", "#56b4e9",
                                                          "#222222", "#8c8c8c"};
  return kColours[number % kColours.size()];
}

double head_height(const ChartHead& head) {
  return kMargin + (head.title.empty() ? 0 : 22) + (head.note.empty() ? 0 : 18);
}

std::string head_commands(const ChartHead& head, const Picture& picture, double left) {
  const double room = picture.width - left - 10;
  const auto line = [&](const std::string& text, double y, double size,
                        std::string_view colour) {
    return fmt::format(
        "set label {} at screen {},screen {} left noenhanced front font \",{}\" "
        "textcolor rgb '{}'\n",
        gnuplot_text(shortened(text, room, size)), left / picture.width,
        1 - y / picture.height, size, colour);
  };
  std::string commands;
  if (!head.title.empty()) commands += line(head.title, kMargin, kTitleFont, kInk);
  if (!head.note.empty()) {
    commands += line(head.note, head_height(head) - kMargin + 2, kFont, kGrey);
  }
  return commands;
}

std::string frame_commands(const Frame& frame, const Picture& picture) {
  return fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\n"
      "set tmargin at screen {}\nset bmargin at screen {}\n",
      frame.left / picture.width, (frame.left + frame.width) / picture.width,
      1 - frame.top / picture.height, 1 - (frame.top + frame.height) / picture.height);
}

std::string side_label(const std::string& text, double x, double y, bool turned,
                       const Picture& picture) {
  return fmt::format(
      "set label {} at screen {},screen {} center {} noenhanced textcolor rgb '{}'\n",
      gnuplot_text(shortened(text, 400, kFont)), x / picture.width,
      1 - y / picture.height, turned ? "rotate" : "", kGrey);
}

std::string side_labels(const ChartAxis& x, const ChartAxis& y, const Frame& frame,
                        const Picture& picture) {
  return side_label(x.label, frame.left + frame.width / 2, frame.top + frame.height + 42,
                    false, picture) +
         side_label(y.label, 18, frame.top + frame.height / 2, true, picture);
}

std::string axis_commands(std::string_view name, const ChartAxis& given,
                          std::span<const double> values) {
  const ChartAxis axis = given.logarithmic ? with_ends(given, values) : given;
  std::string commands = axis.logarithmic ? logarithmic_commands(name, axis) : "";
  return commands + fmt::format("set {}range [{}:{}]\n", name,
                                range_end(axis.low, axis.logarithmic),
                                range_end(axis.high, axis.logarithmic));
}

std::string data_block(std::string_view name, std::string_view rows) {
  return fmt::format("${} << END\n{}END\n", name, rows);
}

void Legend::add(const std::string& name, const LineStyle& style) {
  entries_.emplace_back(shortened(name, kMostLegendName, kFont), style);
}

double Legend::column_width() const {
  double widest = 0;
  for (const auto& [name, style] : entries_) {
    widest = std::max(widest, text_pixels(name, kFont));
  }
  return widest + kLegendLine;
}

std::size_t Legend::columns(double width) const {
  return std::clamp<std::size_t>(static_cast<std::size_t>(width / column_width()), 1,
                                 std::max<std::size_t>(1, entries_.size()));
}

double Legend::height(double width) const {
  if (entries_.empty()) return 0;
  const std::size_t rows = (entries_.size() - 1) / columns(width) + 1;
  return static_cast<double>(rows) * kLegendRow + 14;
}

std::string Legend::commands(double left, double top, double width,
                             const Picture& picture) const {
  std::string commands = "unset key\n";
  const std::size_t across = columns(width);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& [name, style] = entries_[i];
    const std::size_t row = i / across, column = i % across;
    const double x = left + static_cast<double>(column) * column_width();
    const double y = top + (static_cast<double>(row) + 0.5) * kLegendRow;
    commands +=
        sample_commands(style, x, y, picture) + text_commands(name, x + 35, y, picture);
  }
  return commands;
}

}  // namespace convoy
