// SPDX-License-Identifier: Apache-2.0
//
// The fast kernel sets that this processor can run, and numbers for tests of kernels.

#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/pool.h"

namespace convoy {

inline std::vector<KernelSet> fast_kernel_sets() {
  std::vector<KernelSet> sets = available_kernel_sets();
  sets.pop_back();  // the reference
  return sets;
}

using Numbers = std::vector<float>;

/// Bits, which tell zeros of either sign and kinds of not-a-number apart.
inline std::vector<std::uint32_t> bits_of(const Numbers& numbers) {
  std::vector<std::uint32_t> bits;
  for (const float number : numbers) bits.push_back(std::bit_cast<std::uint32_t>(number));
  return bits;
}

/// Numbers and shapes for tests of kernels, always the same.
class Draws {
 public:
  int draw(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  bool toss() { return draw(0, 1) == 1; }
  /// In [-1, 1).
  Numbers numbers(std::size_t count) {
    Numbers result(count);
    for (float& number : result) {
      number = static_cast<float>(random_() >> 8) * 0x1p-23f - 1;
    }
    return result;
  }
  /// Few different ones: many are equal.
  Numbers coarse_numbers(std::size_t count) {
    Numbers result(count);
    for (float& number : result) number = static_cast<float>(draw(-2, 2));
    return result;
  }

 protected:
  std::mt19937 random_{1};
};

inline constexpr float kUntouched =
    77;  // what buffers hold where a kernel must not write

/// What a pool makes of a row.
struct Pooled {
  Numbers dst;
  std::vector<std::uint8_t> argmax;
  bool operator==(const Pooled&) const = default;
};

inline Pooled pool(KernelSet set, PoolRow row) {
  Pooled result = {Numbers(static_cast<std::size_t>(row.columns) * kPack + 1, kUntouched),
                   std::vector<std::uint8_t>(row.columns * kPack + 1, 255)};
  row.dst = result.dst.data();
  row.argmax = result.argmax.data();
  pool_kernels(set).row(row);
  return result;
}

}  // namespace convoy
