// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <vector>

namespace convoy {

/// Returns the middle value; of an even count, the upper of the two. Requires: at least
/// one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace convoy
