// SPDX-License-Identifier: Apache-2.0
//
// Small matrix products in registers, and the copies of an operand into tiles.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// The most values of k that are one chain of fused multiply-adds, which begins at zero;
/// sums of chains are added in order.
constexpr int kChain = 256;

/// dst[i][j] = sum over k of a[i][k] * b[k][j], with i < rows, k < depth, j < columns,
/// and over as many pieces of such operands as there are: a chain goes through all
/// pieces. Requires: of several pieces, pieces * depth <= kChain; of packed operands, one
/// piece.
struct Product {
  const float* a;
  std::size_t a_row = 0;     // 0: a is in tiles; else its rows are this far apart
  std::size_t a_stride = 1;  // from k to k + 1; other than 1 only where a_row is 1
  const float* b;            // [depth][16]
  float* dst;
  std::size_t dst_row;  // from one row of dst to the next
  int rows, depth;
  int columns = kPack;                   // at most kPack
  bool accumulate = false;               // add to dst instead of overwriting it
  int pieces = 1;                        // more than one not in tiles
  std::size_t a_piece = 0, b_piece = 0;  // from one piece to the next
  bool a_packed = false;                 // every tile of a, by pack_left()
  bool b_packed = false;                 // by pack_right()
  const float* next_b = nullptr;  // b of the next call, if known: fetched meanwhile
};

/// Copies part of a matrix into one tile: dst[k * rows + i] is src[i * src_row + k] if
/// rows become the tile's rows, src[k * src_row + i] if columns do.
struct ToTile {
  const float* src;
  std::size_t src_row;
  int rows, depth;  // of the tile
  float* dst;
};

/// An operand that many products have in common, [depth][rows], which is packed in place:
/// a tile of a, or b, whose rows are kPack. Requires: depth >= kPack.
struct ToPack {
  float* numbers;
  int rows, depth;
};

struct ProductKernels {
  int tile;  // the most rows of a tile, also of a convolution's
  void (*product)(const Product&);
  void (*rows_to_tile)(const ToTile&);
  void (*columns_to_tile)(const ToTile&);  // rows <= tile

  // Into a form that the set's product reads more quickly. Without these, the set has
  // none.
  void (*pack_left)(const ToPack&) = nullptr;
  void (*pack_right)(const ToPack&) = nullptr;

  bool packs(int depth) const { return pack_left != nullptr && depth >= kPack; }
};

const ProductKernels& product_kernels(KernelSet set);

/// The same, with products of fp32 in every set: for operands that have more bits than
/// bf16.
const ProductKernels& fp32_product_kernels(KernelSet set);

}  // namespace convoy
