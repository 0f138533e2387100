// SPDX-License-Identifier: Apache-2.0
//
// Histogram: the distribution of numbers, in TensorBoard's default buckets. Their limits
// grow by a factor of 1.1, from 1e-12 on, on both sides of zero; numbers nearer to zero
// have two buckets, numbers beyond 1e20 have one on each side.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace convoy {

/// A bucket counts numbers below its limit that are not below the limit of the previous
/// one.
struct HistogramBucket {
  double limit = 0;
  std::size_t count = 0;
};

struct Histogram {
  double least = 0, most = 0, sum = 0, sum_of_squares = 0;
  std::size_t count = 0;

  /// Ordered by limit. Of consecutive empty buckets only the last is included; none
  /// follows the largest number.
  std::vector<HistogramBucket> buckets{};
};

/// Makes the histogram of the finite numbers.
Histogram make_histogram(std::span<const float> numbers);

}  // namespace convoy
