// SPDX-License-Identifier: Apache-2.0
//
// PageSeries: one curve of a page, and how it is thinned.

#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// A curve. Requires: x and y of the same length. A y that is not finite is a gap.
struct PageSeries {
  std::string name{};                 // "train/loss"
  std::optional<std::size_t> rank{};  // whose it is; nothing: the whole job's
  bool by_seconds = false;            // x is seconds since the run began, not steps
  std::vector<double> x{}, y{};
};

/// The indices of at most `points` values, ascending: the first, the last, and of equal
/// parts between them the least and the largest. All of them if there are no more.
std::vector<std::size_t> thinned(std::span<const double> values, std::size_t points);

/// {"name", "rank"?, "by": "seconds"?, "x": [...], "y": [...]}, thinned.
nlohmann::ordered_json series_json(const PageSeries& series, std::size_t points);

/// A number with six significant digits, or null if it is not finite; whole numbers are
/// exact.
nlohmann::ordered_json number_json(double value);
nlohmann::ordered_json numbers_json(std::span<const double> values);

}  // namespace convoy
