// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a sample's random numbers are used for what, and numbers made of them.

#pragma once

#include <cstdint>

namespace convoy {

// Of the stream of a sample in an epoch. Flips and random resized crops have those
// before.
inline constexpr std::uint64_t kJitterBlock = 16;
inline constexpr std::uint64_t kOperationBlocks = 32;  // one per operation
inline constexpr std::uint64_t kEraseBlocks = 64;
// Of the stream of a batch in an epoch, which is that of the sample of its number.
inline constexpr std::uint64_t kMixBlocks = std::uint64_t{1} << 32;

inline double between(double least, double most, std::uint32_t word) {
  return least + (most - least) * (word / 4294967296.0);
}

/// 0 .. count - 1. The bias of the range reduction is below 2^-16.
inline int below(int count, std::uint32_t word) {
  return static_cast<int>(static_cast<std::uint64_t>(count) * word >> 32);
}

}  // namespace convoy
