// SPDX-License-Identifier: Apache-2.0
//
// SquareGrid: equally many, evenly spaced points along both directions of a plane.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "convoy/landscape/plane.h"

namespace convoy {

struct SquareGrid {
  double low = -1, high = 1;  // of both coordinates
  std::size_t side = 25;      // points along each, at least 2

  std::size_t size() const { return side * side; }

  double coordinate(std::size_t index) const {
    return low +
           (high - low) * static_cast<double>(index) / static_cast<double>(side - 1);
  }

  /// Points are numbered row by row: x changes first.
  PlanePoint point(std::size_t number) const {
    return {coordinate(number % side), coordinate(number / side)};
  }

  std::vector<double> coordinates() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < side; ++i) all.push_back(coordinate(i));
    return all;
  }
};

/// The grid around points: the square from the least of all coordinates - 1 to the
/// largest + 1, widened by its width on each side. Requires: at least one point.
inline SquareGrid grid_around(std::span<const PlanePoint> points, std::size_t side) {
  double low = points.front().x, high = low;
  for (const PlanePoint& point : points) {
    low = std::min({low, point.x, point.y});
    high = std::max({high, point.x, point.y});
  }
  const double width = high - low + 2;
  return {low - 1 - width, high + 1 + width, side};
}

}  // namespace convoy
