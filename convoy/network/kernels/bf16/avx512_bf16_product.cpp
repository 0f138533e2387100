// SPDX-License-Identifier: Apache-2.0
//
// The fast form by VDPBF16PS. Only what stands between the pragmas is compiled for
// AVX-512: functions of the headers above are shared with files for any processor.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/network/kernels/bf16/bf16_product.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
#include "convoy/network/kernels/bf16/avx512_pairs_inl.h"
#include "convoy/network/kernels/bf16/bf16_product_inl.h"

namespace convoy {
namespace bf16 {
namespace {

struct Avx512Bf16 : Avx512Pairs {
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
