// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers of contour lines are written: on their lines, apart from each other,
// from the paths and from the edges.

#pragma once

#include <span>
#include <vector>

#include "convoy/plot/charts.h"

namespace convoy {

struct ContourLabel {
  double x, y, level;
};

/// At most one label per level; none for a line without room.
std::vector<ContourLabel> contour_labels(const ChartGrid& grid,
                                         std::span<const double> levels,
                                         std::span<const ChartPath> paths);

}  // namespace convoy
