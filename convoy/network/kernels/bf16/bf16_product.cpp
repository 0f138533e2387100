// SPDX-License-Identifier: Apache-2.0
//
// The plain forms, written without a look at the fast ones.

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

/// A pair of the left operand, and one of each column of the right one.
struct Pairs {
  float left[2];
  Lanes right[2];
};

/// The pair that begins at k, of a chain that ends at `end`.
Pairs pairs_at(const Product& p, const Tiles& tiles, int piece, int i, int k, int end) {
  Pairs pairs = {};
  for (int half = 0; half < 2 && k + half < end; ++half) {
    const float* b = p.b + piece * p.b_piece + static_cast<std::size_t>(k + half) * kPack;
    pairs.left[half] = to_operand(left_of(p, tiles, piece, i, k + half));
    for (int j = 0; j < kPack; ++j) pairs.right[half][j] = to_operand(b[j]);
  }
  return pairs;
}

CONVOY_WITH_FMA void add_products(const Pairs& pairs, int half, Lanes& sums) {
  for (int j = 0; j < kPack; ++j) {
    sums[j] = flushed(std::fma(pairs.left[half], pairs.right[half][j], sums[j]));
  }
}

/// As VDPBF16PS adds.
struct DotSums {
  void add(const Pairs& pairs) {
    add_products(pairs, 1, sums);
    add_products(pairs, 0, sums);
  }
  void end() {}

  Lanes sums = {};
};

/// As TDPBF16PS adds.
struct MatrixSums {
  void add(const Pairs& pairs) {
    add_products(pairs, 0, halves[0]);
    add_products(pairs, 1, halves[1]);
    if (++count == kPack) end_block();
  }
  void end() {
    while (count > 0) add({});
  }
  void end_block() {
    for (int j = 0; j < kPack; ++j) {
      sums[j] = flushed(sums[j] + flushed(halves[0][j] + halves[1][j]));
    }
    std::ranges::fill(halves[0], 0.0f);
    std::ranges::fill(halves[1], 0.0f);
    count = 0;
  }

  Lanes sums = {};
  Lanes halves[2] = {};
  int count = 0;  // of the block
};

/// One row of the product, k from `begin` to `end`.
template <class Sums>
void add_bf16_chain(const Product& p, const Tiles& tiles, int i, int begin, int end) {
  Sums chain;
  for (int piece = 0; piece < p.pieces; ++piece) {
    for (int k = begin; k < end; k += 2) {
      chain.add(pairs_at(p, tiles, piece, i, k, end));
    }
  }
  chain.end();
  float* dst = p.dst + i * p.dst_row;
  for (int j = 0; j < p.columns; ++j) {
    dst[j] = begin > 0 || p.accumulate ? dst[j] + chain.sums[j] : chain.sums[j];
  }
}

template <class Sums>
void bf16_product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int i = 0; i < p.rows; ++i) {
    int begin = 0;
    do {
      add_bf16_chain<Sums>(p, tiles, i, begin, std::min(begin + kChain, p.depth));
      begin += kChain;
    } while (begin < p.depth);
  }
}

}  // namespace
}  // namespace reference

namespace {

ProductKernels with_product(KernelSet set, void (*product)(const Product&)) {
  ProductKernels table = fp32_product_kernels(set);
  table.product = product;
  return table;
}

ProductKernels amx_kernels() {
  ProductKernels table = with_product(KernelSet::avx512_amx, amx_product);
  table.pack_left = amx_pack_left;
  table.pack_right = amx_pack_right;
  return table;
}

}  // namespace

const ProductKernels& bf16_product_kernels(KernelSet set) {
  using enum KernelSet;
  static const ProductKernels tables[] = {
      with_product(avx512_bf16, avx512_bf16_product),
      with_product(reference_bf16, reference::bf16_product<reference::DotSums>),
      amx_kernels(),
      with_product(reference_amx, reference::bf16_product<reference::MatrixSums>)};
  return tables[static_cast<int>(set) - static_cast<int>(avx512_bf16)];
}

}  // namespace convoy
