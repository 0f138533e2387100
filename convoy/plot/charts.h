// SPDX-License-Identifier: Apache-2.0
//
// Charts: what a picture shows, as plain data. draw() in plot.h makes the picture.
//
// Texts may be anything: they are shown, never interpreted. A number that is not finite,
// or not above zero on a logarithmic axis, is a gap.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace convoy {

struct ChartAxis {
  std::string label{};
  bool logarithmic = false;
  /// The ends of the axis; an end that is not given follows from the data.
  std::optional<double> low{}, high{};
};

/// The heading of a picture. Both may be empty.
struct ChartHead {
  std::string title{};
  std::string note{};  // one smaller line below the title
};

/// A line through points. Requires: x and y of the same length.
struct ChartSeries {
  std::string name{};
  std::vector<double> x{}, y{};
  std::vector<double> deviation{};  // of y, drawn as bars if given: as long as y
  bool dashed = false;
  bool dots = false;  // whether every point is marked
  bool line = true;   // whether points are joined
  /// The number of its colour; without one, series are coloured in their order.
  std::optional<int> colour{};
};

/// A vertical line through the whole chart, such as the epoch of the least loss.
struct ChartMark {
  double x = 0;
  std::string name{};
};

struct LineChart {
  ChartHead head{};
  ChartAxis x{}, y{};
  std::vector<ChartSeries> series{};
  std::optional<ChartMark> mark{};
};

/// A table of counts, such as a confusion matrix. A cell's colour is its share of the
/// row, from white to dark blue, so that a greyscale print keeps the order; its number is
/// the count (left out beyond 30 rows or columns; names are left out where cells are
/// smaller than letters). Requires: one count per cell.
struct HeatMap {
  ChartHead head{};
  std::string row_axis{}, column_axis{};  // what rows and columns are
  std::vector<std::string> rows{}, columns{};
  std::vector<std::uint64_t> counts{};  // [row][column]
};

/// Values over a rectangular grid. Requires: x and y are ascending, at least two of each;
/// one value per pair.
struct ChartGrid {
  std::vector<double> x{}, y{};
  std::vector<double> values{};  // [y][x]
};

/// A trajectory in the plane, in order: the first point is marked by a ring, the last by
/// a dot. Requires: x and y of the same length.
struct ChartPath {
  std::string name{};
  std::vector<double> x{}, y{};
};

/// Lines of equal value, labelled, over a background of colour.
struct ContourChart {
  ChartHead head{};
  ChartAxis x{}, y{};
  ChartAxis value{};  // what the grid's values are; logarithmic: of the levels
  ChartGrid grid{};
  std::vector<ChartPath> paths{};
  std::optional<std::array<double, 2>> minimum{};  // (x, y), marked by a star
  int levels = 12;                                 // about as many lines
};

/// A surface in three dimensions, seen from above at an angle.
struct SurfaceChart {
  ChartHead head{};
  ChartAxis x{}, y{}, value{};
  ChartGrid grid{};
};

/// One of the parallel axes. With `ticks`, the values of the lines are indices into it.
struct ParallelAxis {
  std::string name{};
  std::vector<std::string> ticks{};
  bool logarithmic = false;
};

/// One line per run through all axes; its colour is its value on the last axis.
/// Requires: at least two axes; a line has one value per axis.
struct ParallelChart {
  ChartHead head{};
  std::vector<ParallelAxis> axes{};
  std::vector<std::vector<double>> lines{};
};

/// Horizontal bars from zero, each with its number. Requires: one value per name.
struct BarChart {
  ChartHead head{};
  std::string value{};  // what the numbers are
  std::vector<std::string> names{};
  std::vector<double> values{};
};

using Chart =
    std::variant<LineChart, HeatMap, ContourChart, SurfaceChart, ParallelChart, BarChart>;

}  // namespace convoy
