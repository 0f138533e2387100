// SPDX-License-Identifier: Apache-2.0
//
// Picture: a chart as commands for gnuplot, and the parts that charts share: heading,
// frame, axes, legend, colours.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/plot/charts.h"

namespace convoy {

/// Commands for gnuplot, and the size of the picture in pixels (of a PNG: in pairs).
struct Picture {
  double width = 0, height = 0;
  std::string commands{};
};

/// Where the chart is on the picture, in pixels from its left and upper edges.
struct Frame {
  double left = 0, top = 0, width = 0, height = 0;
};

inline constexpr double kFont = 11, kTitleFont = 15;
inline constexpr std::string_view kInk = "#222222", kGrey = "#555555", kPale = "#bbbbbb";

/// A colour of Okabe and Ito's palette, which people with any colour vision tell apart.
/// After eight they repeat.
std::string series_colour(std::size_t number);

/// White to dark blue, each step darker than the last; and dark blue to yellow
/// (viridis), for lines.
inline constexpr std::string_view kBluePalette =
    "set palette defined (0 '#ffffff', 0.2 '#deebf7', 0.4 '#9ecae1', 0.6 '#4292c6', "
    "0.8 '#08519c', 1 '#08306b')\n";
inline constexpr std::string_view kViridisPalette =
    "set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 '#5ec962', "
    "1 '#e7d415')\n";

/// The height of the heading, with the space below it.
double head_height(const ChartHead& head);

/// Draws the heading; what is wider than the picture is cut.
std::string head_commands(const ChartHead& head, const Picture& picture, double left);

/// Puts the chart into its frame.
std::string frame_commands(const Frame& frame, const Picture& picture);

/// A grey line of text around a point, in pixels; rotated by 90 degrees if `turned`.
std::string side_label(const std::string& text, double x, double y, bool turned,
                       const Picture& picture);

/// What x and y are, below and on the left of the frame.
std::string side_labels(const ChartAxis& x, const ChartAxis& y, const Frame& frame,
                        const Picture& picture);

/// The space below a frame for its ticks and label, without a legend.
inline constexpr double kBelowFrame = 58;

/// Scale, range and ticks of the axis `name`: "x", "y", "z", "cb". On a logarithmic axis
/// `values` decide where its ends, if they are not given, and its ticks are.
std::string axis_commands(std::string_view name, const ChartAxis& axis,
                          std::span<const double> values = {});

/// A block of data: "$name << END" and its rows, each with a newline.
std::string data_block(std::string_view name, std::string_view rows);

/// How a series is drawn.
struct LineStyle {
  std::string colour;
  std::string dashes = "1";  // gnuplot's dashtype
  int point = 0;             // gnuplot's pointtype; 0: none
  bool line = true;
};

/// Names and how they are drawn, in columns of equal width below a chart. It is drawn by
/// labels and arrows, because gnuplot's own legend leaves out what it finds too wide.
class Legend {
 public:
  void add(const std::string& name, const LineStyle& style);

  /// When it is as wide as that.
  double height(double width) const;
  /// Its upper left corner is at (left, top).
  std::string commands(double left, double top, double width,
                       const Picture& picture) const;

 private:
  std::size_t columns(double width) const;
  double column_width() const;

  std::vector<std::pair<std::string, LineStyle>> entries_;
};

/// One file for each kind of chart has these.
Picture picture_of(const LineChart& chart);
Picture picture_of(const HeatMap& map);
Picture picture_of(const ContourChart& chart);
Picture picture_of(const SurfaceChart& chart);
Picture picture_of(const ParallelChart& chart);
Picture picture_of(const BarChart& chart);

}  // namespace convoy
