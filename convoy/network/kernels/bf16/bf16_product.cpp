// SPDX-License-Identifier: Apache-2.0
//
// The plain form, written without a look at the fast one.

#include "convoy/network/kernels/bf16/bf16_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/base/float16.h"
#include "convoy/network/kernels/reference_arithmetic.h"

namespace convoy {
namespace reference {
namespace {

/// A subnormal number becomes a zero of its sign.
inline float flushed(float value) {
  const bool subnormal = std::fabs(value) < std::numeric_limits<float>::min();
  return subnormal ? std::copysign(0.0f, value) : value;
}

inline float to_operand(float value) { return round_to(Dtype::bf16, flushed(value)); }

/// Element (i, k) of a piece of a.
inline float left_of(const Product& p, const Tiles& tiles, int piece, int i, int k) {
  const std::size_t at =
      p.a_row > 0 ? i * p.a_row + k * p.a_stride : tiled_index(tiles, i, k, p.depth);
  return p.a[piece * p.a_piece + at];
}

/// One row of the product, k from `begin` to `end`.
CONVOY_WITH_FMA void add_bf16_chain(const Product& p, const Tiles& tiles, int i,
                                    int begin, int end) {
  Lanes sums = {};
  for (int piece = 0; piece < p.pieces; ++piece) {
    const float* b = p.b + piece * p.b_piece;
    for (int first = begin; first < end; first += 2) {
      for (const int k : {first + 1, first}) {
        const bool exists = k < end;
        const float factor = exists ? to_operand(left_of(p, tiles, piece, i, k)) : 0;
        for (int j = 0; j < kPack; ++j) {
          const float right = exists ? to_operand(b[k * kPack + j]) : 0;
          sums[j] = flushed(std::fma(factor, right, sums[j]));
        }
      }
    }
  }
  float* dst = p.dst + i * p.dst_row;
  for (int j = 0; j < p.columns; ++j) {
    dst[j] = begin > 0 || p.accumulate ? dst[j] + sums[j] : sums[j];
  }
}

void bf16_product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int i = 0; i < p.rows; ++i) {
    int begin = 0;
    do {
      add_bf16_chain(p, tiles, i, begin, std::min(begin + kChain, p.depth));
      begin += kChain;
    } while (begin < p.depth);
  }
}

}  // namespace
}  // namespace reference

namespace {

ProductKernels with_product(ProductKernels table, void (*product)(const Product&)) {
  table.product = product;
  return table;
}

}  // namespace

const ProductKernels& bf16_product_kernels(KernelSet set) {
  static const ProductKernels avx512 =
      with_product(fp32_product_kernels(KernelSet::avx512_bf16), avx512_bf16_product);
  static const ProductKernels plain = with_product(
      fp32_product_kernels(KernelSet::reference_bf16), reference::bf16_product);
  return set == KernelSet::avx512_bf16 ? avx512 : plain;
}

}  // namespace convoy
