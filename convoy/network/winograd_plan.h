// SPDX-License-Identifier: Apache-2.0
//
// How a 3x3 convolution is cut for Winograd's forms: into tiles, columns and chunks.
//
// A tile of the output in each of a pack's sixteen images is a "column": for each
// product, sixteen columns of a matrix product over channels. Columns are numbered pack
// by pack and tile by tile. A chunk is as many of them as are transformed before they are
// multiplied: several packs, or some rows of tiles of one. It follows from the shape
// alone, since the weights' gradient is summed chunk by chunk.

#pragma once

#include <cstddef>
#include <optional>

#include "convoy/base/shape.h"
#include "convoy/network/kernels/winograd.h"
#include "convoy/network/layers/convolution.h"

namespace convoy {

/// The form that computes the layer with the least work, if any is faster than direct
/// convolution.
std::optional<WinogradForm> choose_form(WinogradMode mode, const Convolution& layer,
                                        Shape src);

/// The multiplications of a form for one output channel, source channel and image; direct
/// convolution has one for each tap of each output.
int multiplications(WinogradForm form, Shape dst);

/// One tile among the tiles of an image.
struct TilePlace {
  std::size_t pack;
  int row, column;  // of tiles
};

/// Packs, and rows of tiles in each.
struct Chunk {
  std::size_t first_pack, packs;
  int first_row, rows;
};

class WinogradPlan {
 public:
  WinogradPlan(WinogradForm form, Shape src, Shape dst, int padding);

  WinogradForm form() const { return form_; }
  int products() const { return size_.all_products(); }
  /// Of one output channel in one source channel.
  std::size_t taps() const { return static_cast<std::size_t>(size_.all_taps()); }
  std::size_t tiles() const {
    return static_cast<std::size_t>(tiles_high_) * tiles_wide_;
  }

  /// Chunks of a pass over `packs` packs.
  std::size_t chunks(std::size_t packs) const;
  Chunk chunk(std::size_t number, std::size_t packs) const;
  /// In the largest chunk of such a pass.
  std::size_t most_columns(std::size_t packs) const;

  std::size_t columns_a_pack(const Chunk& chunk) const {
    return static_cast<std::size_t>(chunk.rows) * tiles_wide_;
  }
  std::size_t columns(const Chunk& chunk) const {
    return chunk.packs * columns_a_pack(chunk);
  }
  /// Of a column of the chunk.
  TilePlace place(const Chunk& chunk, std::size_t column) const;

  /// Pixels from an image's first to the tile's first, which may lie outside the source.
  std::ptrdiff_t src_offset(const TilePlace& place) const;
  std::ptrdiff_t dst_offset(const TilePlace& place) const;
  /// What of the tile is inside.
  TileWindow src_window(const TilePlace& place) const;
  TileWindow dst_window(const TilePlace& place) const;

  /// Rows [first, last) of the source that the chunk's tiles see.
  int first_src_row(const Chunk& chunk) const;
  int last_src_row(const Chunk& chunk) const;
  /// Of the chunk that sees most.
  int most_src_rows() const;
  /// Rows [first, last) of the output that the chunk's tiles give, and the most of them.
  int first_dst_row(const Chunk& chunk) const { return chunk.first_row * size_.dst; }
  int last_dst_row(const Chunk& chunk) const;
  int most_dst_rows() const;
  /// Rows and columns of a tile of the output.
  int dst_tile() const { return size_.dst; }

 private:
  int src_top(const TilePlace& place) const { return place.row * src_stride() - frame_; }
  int src_left(const TilePlace& place) const {
    return place.column * src_stride() - frame_;
  }
  /// From one tile of the source to the next.
  int src_stride() const { return size_.dst * size_.stride; }
  int dst_top(const TilePlace& place) const { return place.row * size_.dst; }
  int dst_left(const TilePlace& place) const { return place.column * size_.dst; }

  WinogradForm form_;
  WinogradSize size_;
  Shape src_, dst_;
  int frame_;  // zeros around the source that tiles see
  int tiles_high_, tiles_wide_;
  std::size_t packs_a_chunk_;  // 0: a chunk is part of a pack
  int rows_a_chunk_;
};

}  // namespace convoy
