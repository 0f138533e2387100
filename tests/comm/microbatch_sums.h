// SPDX-License-Identifier: Apache-2.0
//
// Made-up numbers of micro-batches, and their sum along the reduction tree, computed the
// plain way.

#pragma once

#include <cstring>
#include <vector>

#include "convoy/comm/reduction_order.h"
#include "convoy/params/reduction_tree.h"

namespace convoy {

/// Of sizes so different that the order of adding shows in the bits.
inline std::vector<float> microbatch_numbers(std::size_t microbatch, std::size_t count,
                                             Dtype dtype = Dtype::fp32) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed =
        static_cast<std::uint32_t>((microbatch + 1) * 2654435761u + i * 2246822519u);
    const float scale = static_cast<float>(1u << (mixed >> 27));
    numbers[i] = (static_cast<float>(mixed & 0xffff) - 30000.0f) / scale;
  }
  round_in_place(dtype, numbers.data(), count);
  return numbers;
}

/// Every sum is rounded to the type.
inline std::vector<float> tree_sum(Range microbatches, std::size_t count,
                                   Dtype dtype = Dtype::fp32) {
  if (microbatches.size() == 1) {
    return microbatch_numbers(microbatches.begin, count, dtype);
  }
  const std::size_t middle = tree_split(microbatches);
  std::vector<float> sum = tree_sum({microbatches.begin, middle}, count, dtype);
  const std::vector<float> right = tree_sum({middle, microbatches.end}, count, dtype);
  for (std::size_t i = 0; i < count; ++i) sum[i] += right[i];
  round_in_place(dtype, sum.data(), count);
  return sum;
}

/// What a rank has added itself.
inline std::vector<std::vector<float>> partials_of_rank(const ReductionOrder& order,
                                                        int rank, std::size_t count,
                                                        Dtype dtype = Dtype::fp32) {
  std::vector<std::vector<float>> partials;
  for (const Range microbatches : whole_subtrees(order.microbatches_of(rank))) {
    partials.push_back(tree_sum(microbatches, count, dtype));
  }
  return partials;
}

inline bool same_bits(const std::vector<float>& left, const std::vector<float>& right) {
  return left.size() == right.size() &&
         (left.empty() ||
          std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

}  // namespace convoy
