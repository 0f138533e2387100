// SPDX-License-Identifier: Apache-2.0
//
// RowsInTiles: copies an operand into the tiles that the kernels read (see kernels.h).

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

struct RowsInTiles {
  RowsInTiles(int rows, int largest, std::size_t depth)
      : tiles(rows, largest), depth(depth) {}

  /// Element (i, k) of the operand is src[i * row + k * step].
  void copy_tile(int tile, const float* src, std::size_t row, std::size_t step,
                 float* tiled) const {
    const auto first = static_cast<std::size_t>(tiles.begin(tile));
    const auto size = static_cast<std::size_t>(tiles.size(tile));
    float* to = tiled + first * depth;
    for (std::size_t k = 0; k < depth; ++k) {
      const float* from = src + first * row + k * step;
      for (std::size_t i = 0; i < size; ++i) *to++ = from[i * row];
    }
  }

  void copy(const float* src, std::size_t row, std::size_t step, float* tiled) const {
    for (int tile = 0; tile < tiles.count; ++tile) copy_tile(tile, src, row, step, tiled);
  }

  Tiles tiles;
  std::size_t depth;
};

}  // namespace convoy
