// SPDX-License-Identifier: Apache-2.0
//
// Numbers that are easy to read, for contour lines and ticks.

#pragma once

#include <span>
#include <string>
#include <vector>

namespace convoy {

/// The least and the largest finite value (above zero if `positive`); both 0 if there is
/// none.
struct ValueRange {
  double low = 0, high = 0;
  bool is_point() const { return !(low < high); }
};
ValueRange value_range(std::span<const double> values, bool positive);

/// About `count` ascending levels strictly inside the range: steps of 1, 2 or 5 times a
/// power of ten; or logarithmic, with two significant digits. None if it is a point.
std::vector<double> nice_levels(const ValueRange& range, int count, bool logarithmic);

/// 1, 2 and 5 times powers of ten in the range, or powers of ten alone, at most `most`;
/// evenly spaced levels if these would be fewer than two. Requires: low above 0.
std::vector<double> logarithmic_ticks(const ValueRange& range, std::size_t most);

/// The first of every `n` values. Requires: n above 0.
std::vector<double> every_nth(const std::vector<double>& values, std::size_t n);

/// The number with at most four significant digits.
std::string short_number(double value);

}  // namespace convoy
