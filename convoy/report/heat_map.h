// SPDX-License-Identifier: Apache-2.0
//
// HeatMap: draws a table of counts as a PNG.
//
// A cell's colour is its share of the row, from white to dark blue, so that a greyscale
// print keeps the order; its number is the count (left out beyond 30 rows or columns;
// names are left out if cells are smaller than letters).

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

/// Returns the bytes of a PNG file. Long names are truncated. Requires: one count per
/// cell.
std::string heat_map_png(const HeatMap& map);

}  // namespace convoy
