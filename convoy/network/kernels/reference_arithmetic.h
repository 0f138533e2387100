// SPDX-License-Identifier: Apache-2.0
//
// What the plain kernels share: arithmetic of a single number, under the names that
// formulas use (math.inc, winograd_forms.inc), and the sum of sixteen lanes. The
// counterpart of arithmetic_inl.h.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "convoy/network/kernels/kernels.h"

// Compiles a function twice, also with fused multiply-add as an instruction, and uses
// what the processor has: std::fma has the same bits either way. A sanitizer's code
// cannot run as early as that is chosen.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONVOY_WITH_FMA __attribute__((target_clones("default", "fma")))
#else
#define CONVOY_WITH_FMA
#endif

namespace convoy::reference {

using V = float;
using Bits = std::int32_t;

inline float number(float value) { return value; }
inline float add(float a, float b) { return a + b; }
inline float sub(float a, float b) { return a - b; }
inline float mul(float a, float b) { return a * b; }
inline float div(float a, float b) { return a / b; }
inline float mul_add(float a, float b, float c) { return std::fma(a, b, c); }
inline float negated(float a) { return -a; }
inline float magnitude(float a) { return std::fabs(a); }
inline float if_less(float a, float b, float yes, float no) { return a < b ? yes : no; }

inline Bits bits_of(float a) { return std::bit_cast<Bits>(a); }
inline float from_bits(Bits bits) { return std::bit_cast<float>(bits); }
// Two's complement, as vectors have it: not-a-number's bits may be anything.
inline Bits plus(Bits a, Bits b) {
  return static_cast<Bits>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline Bits minus(Bits a, Bits b) {
  return static_cast<Bits>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
inline Bits halved(Bits a) { return a >> 1; }
inline Bits to_exponent(Bits a) {
  return static_cast<Bits>(static_cast<std::uint32_t>(a) << 23);
}

/// The larger of both; not-a-number stays what it is, so that a divergence is seen.
inline float at_least(float clamp_min, float value) {
  return value < clamp_min ? clamp_min : value;
}
inline float at_most(float clamp_max, float value) {
  return clamp_max < value ? clamp_max : value;
}

/// a * 2^n, rounded once, with n given as a number and as bits. Both factors are normal
/// numbers, and the first product is exact.
inline float times_power_of_two(float a, float, Bits whole) {
  const Bits first = halved(whole);
  const float scaled = a * from_bits(to_exponent(plus(first, 127)));
  return scaled * from_bits(to_exponent(plus(minus(whole, first), 127)));
}

inline constexpr int kTile = 6;

/// One number per image.
using Lanes = float[kPack];

/// The sum of all images: lane i and lane i + 8, of these i and i + 4, and so on.
inline float sum_of_lanes(const Lanes& numbers) {
  Lanes lanes;
  std::copy_n(numbers, kPack, lanes);
  for (int half = kPack / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

/// The position of element (row, k) of an operand in tiles.
inline std::size_t tiled_index(const Tiles& tiles, int row, int k, int depth) {
  int tile = 0;
  while (tiles.begin(tile + 1) <= row) ++tile;
  const std::size_t before = static_cast<std::size_t>(tiles.begin(tile)) * depth;
  return before + static_cast<std::size_t>(k) * tiles.size(tile) +
         (row - tiles.begin(tile));
}

}  // namespace convoy::reference
