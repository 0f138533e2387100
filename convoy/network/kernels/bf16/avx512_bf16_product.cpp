// SPDX-License-Identifier: Apache-2.0
//
// The fast form by VDPBF16PS, which Highway does not have. Only what stands between the
// pragmas is compiled for AVX-512: functions of the headers above are shared with files
// for any processor.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/network/kernels/bf16/bf16_product.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
#include "convoy/network/kernels/bf16/bf16_product_inl.h"

namespace convoy {
namespace bf16 {
namespace {

/// Rows of a tile, as of avx512.
constexpr int kAvx512Tile = 12;

struct Avx512Bf16 {
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

  /// As _mm512_dpbf16_ps does, of which GCC 12 makes two instructions: it would load the
  /// pair into all lanes first.
  static Sums dot(Sums sums, const Bf16Pair* one, Pairs pairs) {
    asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sums) : "v"(pairs), "m"(*one));
    return sums;
  }
};

}  // namespace
}  // namespace bf16

void avx512_bf16_product(const Product& product) {
  check(product.pieces == 1 || product.pieces * product.depth <= kChain,
        "pieces are one chain");
  bf16::paired_product<bf16::Avx512Bf16, bf16::kAvx512Tile>(product);
}

}  // namespace convoy
#pragma GCC pop_options

namespace convoy {

bool has_avx512_bf16() { return __builtin_cpu_supports("avx512bf16") != 0; }

}  // namespace convoy
#else

namespace convoy {

bool has_avx512_bf16() { return false; }
void avx512_bf16_product(const Product&) {
  check(false, "this processor has no AVX-512 BF16");
}

}  // namespace convoy
#endif
