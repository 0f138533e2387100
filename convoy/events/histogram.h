// SPDX-License-Identifier: Apache-2.0
//
// Histogram: the distribution of numbers, in TensorBoard's usual buckets. Their limits
// grow by a tenth from one to the next, from 1e-12 on, to both sides of zero; what is
// nearer to zero has two buckets, what is beyond 1e20 one on each side.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace convoy {

/// A bucket holds what is below its limit, and not below the limit of the one before it.
struct HistogramBucket {
  double limit = 0;
  std::size_t count = 0;
};

struct Histogram {
  double least = 0, most = 0, sum = 0, sum_of_squares = 0;
  std::size_t count = 0;

  /// By limit. Of a row of empty ones only the last is here; none follows the last
  /// number.
  std::vector<HistogramBucket> buckets{};
};

/// Of the finite ones among the numbers.
Histogram make_histogram(std::span<const float> numbers);

}  // namespace convoy
