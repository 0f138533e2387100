// SPDX-License-Identifier: Apache-2.0
//
// What WinogradStage computes at a time. Measured: see bench/convolution_bench.cpp.

#pragma once

#include <algorithm>
#include <cstddef>

#include "convoy/base/range.h"
#include "convoy/network/kernels/kernels.h"

namespace convoy {

// The most output channels of a task: each panel that is read serves as many.
inline constexpr int kGroup = 24;
// The length of a sum that is taken at a time: a panel of as many channels, 8 KiB, stays
// in the first-level cache, and with few columns the taps of a group in the second.
inline constexpr int kSlab = 128;
// Columns whose products are computed before they are turned into pixels: all of them, if
// there are no more than `kFewColumns`; else as many as keep the products in cache.
inline constexpr std::size_t kFewColumns = 16;
inline constexpr std::size_t kColumnsABlock = 8;
// Columns over which the gradient of taps is summed at a time: operands of 8 + 12 KiB.
inline constexpr std::size_t kColumnsATime = 8;
// Source channels of a task of the taps' gradient.
inline constexpr int kTapsWide = 64;
// And its output channels.
inline constexpr int kTapsHigh = 32;

// Strides are padded by some cache lines: powers of two would fall on the same ones.
inline constexpr std::size_t kPad = kPack;
inline constexpr std::size_t kTapsRow = kSlab + kPad;              // forward
inline constexpr std::size_t kTurnedTapsRow = kGroup + kPack / 2;  // backward

/// Channels come in blocks of sixteen, the last one perhaps smaller.
inline std::size_t block_count(int channels, int block = kPack) {
  return static_cast<std::size_t>((channels + block - 1) / block);
}
inline Range block_of(int channels, std::size_t number, int block = kPack) {
  const auto size = static_cast<std::size_t>(block);
  return {number * size,
          std::min(static_cast<std::size_t>(channels), (number + 1) * size)};
}

}  // namespace convoy
