// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of bf16_pairs_inl.h by AVX-512 BF16, which Highway does not have. A
// source includes it after <immintrin.h>, where it is compiled for these instructions.

#pragma once

#include "convoy/network/kernels/bf16/bf16_pairs_inl.h"

namespace convoy::bf16 {
namespace {

/// Rows of a tile, as of avx512.
constexpr int kAvx512Tile = 12;

struct Avx512Pairs {
  using Sums = __m512;
  using Pairs = __m512bh;

  static Sums zero() { return _mm512_setzero_ps(); }
  static Sums load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(Sums sums, float* to) { _mm512_storeu_ps(to, sums); }
  static Sums add(Sums a, Sums b) { return _mm512_add_ps(a, b); }

  static Pairs load_pairs(const Bf16Pair* from) {
    return (Pairs)_mm512_loadu_si512(from);
  }
  static void store_pairs(Pairs pairs, Bf16Pair* to) {
    _mm512_storeu_si512(to, (__m512i)pairs);
  }

  /// The first `count` of sixteen numbers, then zeros, which are not read.
  static __m512 load_some(const float* from, int count) {
    const auto read = static_cast<__mmask16>((1u << count) - 1);
    return _mm512_maskz_loadu_ps(read, from);
  }

  static Pairs pairs_of_rows(const float* even, const float* odd, int count) {
    const __m512bh halves =
        _mm512_cvtne2ps_pbh(load_some(odd, count), load_some(even, count));
    const __m512i order =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
                         7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return (Pairs)_mm512_permutexvar_epi16(order, (__m512i)halves);
  }

  static Pairs pairs_of_row(const float* row, int count) {
    const __m512 upper = count > kPack ? load_some(row + kPack, count - kPack) : zero();
    return _mm512_cvtne2ps_pbh(upper, load_some(row, std::min(count, kPack)));
  }
};

}  // namespace
}  // namespace convoy::bf16
