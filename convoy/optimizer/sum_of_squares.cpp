// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/sum_of_squares.h"

#include <array>
#include <numeric>

namespace convoy {
namespace {

// Independent accumulators, so that the compiler vectorizes.
constexpr std::size_t kAccumulators = 16;

}  // namespace

/// The square of a float is exact in double precision; the order of the sum is fixed.
double sum_of_squares(std::span<const float> numbers) {
  std::array<double, kAccumulators> sums{};
  const std::size_t even = numbers.size() / kAccumulators * kAccumulators;
  for (std::size_t i = 0; i < even; i += kAccumulators) {
    for (std::size_t a = 0; a < kAccumulators; ++a) {
      const double number = numbers[i + a];
      sums[a] += number * number;
    }
  }
  for (std::size_t i = even; i < numbers.size(); ++i) {
    const double number = numbers[i];
    sums[i - even] += number * number;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace convoy
