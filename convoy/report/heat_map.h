// SPDX-License-Identifier: Apache-2.0
//
// HeatMap: a table of counts as a picture, in PNG.
//
// A cell's colour is its share of the row, from white to dark blue, so that grey print
// keeps the order; its number is the count (left out beyond 30 rows or columns, where it
// could not be read; names are left out where cells are smaller than letters).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

struct HeatMap {
  std::string title, note;            // two lines at the top
  std::string row_axis, column_axis;  // what rows and columns are
  std::vector<std::string> rows, columns;
  std::vector<std::uint64_t> counts;  // [row][column]
};

/// The bytes of a PNG file. Long names are cut. Requires: a count for each cell.
std::string heat_map_png(const HeatMap& map);

}  // namespace convoy
