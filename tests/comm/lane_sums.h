// SPDX-License-Identifier: Apache-2.0
//
// Made-up numbers of lanes, and their sum along the lane tree, computed the plain way.

#pragma once

#include <cstring>
#include <vector>

#include "convoy/base/lane_tree.h"
#include "convoy/comm/sum_order.h"

namespace convoy {

/// Of sizes so different that the order of adding shows in the bits.
inline std::vector<float> lane_numbers(std::size_t lane, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed =
        static_cast<std::uint32_t>((lane + 1) * 2654435761u + i * 2246822519u);
    const float scale = static_cast<float>(1u << (mixed >> 27));
    numbers[i] = (static_cast<float>(mixed & 0xffff) - 30000.0f) / scale;
  }
  return numbers;
}

inline std::vector<float> tree_sum(Range lanes, std::size_t count) {
  if (lanes.size() == 1) return lane_numbers(lanes.begin, count);
  const std::size_t middle = tree_split(lanes);
  std::vector<float> sum = tree_sum({lanes.begin, middle}, count);
  const std::vector<float> right = tree_sum({middle, lanes.end}, count);
  for (std::size_t i = 0; i < count; ++i) sum[i] += right[i];
  return sum;
}

/// What a rank has added itself.
inline std::vector<std::vector<float>> partials_of_rank(const SumOrder& order, int rank,
                                                        std::size_t count) {
  std::vector<std::vector<float>> partials;
  for (const Range lanes : whole_subtrees(order.lanes(), order.lanes_of(rank))) {
    partials.push_back(tree_sum(lanes, count));
  }
  return partials;
}

inline bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         (left.empty() ||
          std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

}  // namespace convoy
