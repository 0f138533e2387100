// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "convoy/base/range.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// Adds the indices of the least and the largest value of a part, or its first index if
/// nothing in it is finite.
void add_extremes(std::span<const double> values, Range part,
                  std::vector<std::size_t>& kept) {
  std::size_t least = part.begin, largest = part.begin;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (!(values[i] >= values[least])) least = std::isnan(values[i]) ? least : i;
    if (!(values[i] <= values[largest])) largest = std::isnan(values[i]) ? largest : i;
  }
  kept.push_back(std::min(least, largest));
  if (least != largest) kept.push_back(std::max(least, largest));
}

}  // namespace

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t points) {
  std::vector<std::size_t> kept;
  if (values.size() <= points) {
    kept.resize(values.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  const std::size_t parts = points > 3 ? (points - 2) / 2 : 0;
  kept.push_back(0);
  for (std::size_t i = 0; i < parts; ++i) {
    const Range inner = even_part(values.size() - 2, parts, i);
    add_extremes(values, {inner.begin + 1, inner.end + 1}, kept);
  }
  if (points > 1) kept.push_back(values.size() - 1);
  return kept;
}

json number_json(double value) {
  constexpr double kMostExact = 1e15;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) < kMostExact) {
    return static_cast<std::int64_t>(value);
  }
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

json numbers_json(std::span<const double> values) {
  json list = json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

json series_json(const PageSeries& series, std::size_t points) {
  json object = {{"name", series.name}};
  if (series.rank) object["rank"] = *series.rank;
  if (series.by_seconds) object["by"] = "seconds";
  json x = json::array(), y = json::array();
  for (const std::size_t i : thinned(series.y, points)) {
    x.push_back(number_json(series.x[i]));
    y.push_back(number_json(series.y[i]));
  }
  object["x"] = std::move(x);
  object["y"] = std::move(y);
  return object;
}

}  // namespace convoy
