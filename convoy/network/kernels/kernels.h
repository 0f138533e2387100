// SPDX-License-Identifier: Apache-2.0
//
// What all kernels have in common. Kernels are the arithmetic of a network. Each file of
// them has a table of functions for every kernel set (kernel_set.h): a plain one, the
// reference, which is correct by inspection, and a fast one for each instruction set. All
// end at the same bits, but for the products of the sets that have bf16's
// (bf16/bf16_product.h); the stages use any of them without knowing which. That is so
// because
//
// - a sum of products is a chain of fused multiply-adds in the order of its formula,
// - a sum over images has sixteen lanes, one per image, which are added at the end:
//   lane i and lane i + 8, of these i and i + 4, then i + 2, then i + 1,
// - everything else is one operation after the other, as written: the engine is compiled
//   without contraction of products and sums.
//
// Images are computed in packs of sixteen. An activation is laid out
//
//   [pack][channel][row][column][16 images]
//
// so a vector register holds one pixel of several images: any number of channels and any
// image size run at full width, and flattening is free. The last pack is filled up with
// zero images, whose gradients are zero.

#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "convoy/base/range.h"
#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// Images in a pack.
inline constexpr int kPack = 16;

/// A clamp_min that lets every number through.
inline constexpr float kNoClamp = -std::numeric_limits<float>::infinity();

/// Cuts rows (or output channels) into register tiles, as evenly as possible: sixteen by
/// six are 6, 5 and 5.
///
/// An operand "in tiles" is laid out as [tile][depth][row of the tile], so that the
/// innermost loop of a kernel reads it one number after the other.
struct Tiles {
  Tiles(int rows, int largest) : count((rows + largest - 1) / largest), rows(rows) {}

  int begin(int tile) const {
    return tile * (rows / count) + std::min(tile, rows % count);
  }
  int size(int tile) const { return begin(tile + 1) - begin(tile); }
  Range range(int tile) const {
    return {static_cast<std::size_t>(begin(tile)),
            static_cast<std::size_t>(begin(tile + 1))};
  }

  int count;
  int rows;
};

}  // namespace convoy
