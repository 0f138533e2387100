// SPDX-License-Identifier: Apache-2.0
//
// Kernels: the arithmetic of a network, in one table of functions.
//
// There is a plain table, reference_kernels(), that is correct by inspection, and a fast
// one for each instruction set (kernel_sets.h). All end at the same bits; the stages use
// any of them without knowing which. That is so because
//
// - a sum of products is a chain of fused multiply-adds in the order of its formula
// below,
// - a sum over images has sixteen lanes, one per image, which are added at the end: lane
// i
//   and lane i + 8, of these i and i + 4, then i + 2, then i + 1,
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
#include <cstdint>
#include <limits>

#include "convoy/base/random.h"
#include "convoy/base/range.h"
#include "convoy/network/kernels/kernel_set.h"
#include "convoy/network/kernels/winograd.h"

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

/// dst[i][j] = sum over k of a[i][k] * b[k][j], with i < rows, k < depth, j < columns,
/// and over as many pieces of such operands as there are.
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
  const float* next_b = nullptr;  // b of the next call, if known: fetched meanwhile
};

/// One row of a convolution's output, for one pack:
///
///   dst[k][x] = max(clamp_min, bias[k] + sum over c, r, s of
///               weights[k][c][r][s] *
///               src[c][top + r * dilation_high][left + x * stride + s * dilation_wide])
///
/// Taps that fall outside the source count as zero.
struct ConvolutionRow {
  const float* src;  // [src_channels][src_height][src_width][16]
  int src_channels, src_height, src_width;
  int taps_high, taps_wide;
  const float* weights;  // in tiles of output channels; depth is [c][r][s]
  const float* bias;     // nullptr counts as zeros
  float clamp_min;       // 0 makes it a ReLU; minus infinity does nothing
  int top, left, stride;
  float* dst;
  int dst_channels, columns;
  std::size_t dst_channel, dst_column;  // strides of dst
  int dilation_high = 1, dilation_wide = 1;
};

/// Gradient of a convolution's weights from one pack:
///
///   gradient[k][c][r][s] = sum over y, x, images of dst_gradient[k][y][x] *
///                          src[c][y * stride_high + r * dilation_high]
///                             [x * stride_wide + s * dilation_wide]
struct ConvolutionWeights {
  const float* src;  // [src_channels][src_height][src_width][16], padding included
  int src_channels, src_height, src_width;
  int taps_high, taps_wide, stride_high, stride_wide;
  const float* dst_gradient;  // [dst_channels][dst_height][dst_width][16]
  int dst_channels, dst_height, dst_width;
  float* gradient;  // [dst_channels][src_channels][taps_high][taps_wide]
  int dilation_high = 1, dilation_wide = 1;
};

/// One row of max pooling, for one channel of one pack. `argmax` remembers which element
/// of the window was the largest: the first of equals, row by row.
struct PoolRow {
  const float* src;  // first row of the window
  std::size_t src_row;
  int window, stride, columns;
  float clamp_min;       // 0 makes the result a ReLU's; minus infinity does nothing
  float* dst;            // [columns][16]
  std::uint8_t* argmax;  // [columns][16]
  int window_high = 0;   // rows of a window that is not square; 0: as many as columns

  int high() const { return window_high == 0 ? window : window_high; }
};

/// The reverse of PoolRow: passes each gradient to the element that was the maximum.
/// Where windows overlap, `accumulate` adds to what is there; else all elements of the
/// windows are overwritten.
struct UnpoolRow {
  const float* dst_gradient;   // [columns][16]
  const std::uint8_t* argmax;  // [columns][16]
  int window, stride, columns;
  bool accumulate;
  float* src_gradient;
  std::size_t src_row;
  int window_high = 0;  // as in PoolRow

  int high() const { return window_high == 0 ? window : window_high; }
};

/// Decides for rows of sixteen images which of them keep their number. kept[i] is that of
/// row first + i, whose random words, blocks 2 * (first + i) and the next, are sixteen
/// numbers of sixteen bits, lower halves first; an image is kept whose number is at least
/// `threshold`.
struct DrawKept {
  const RandomStream& random;
  std::size_t first, rows;
  std::uint32_t threshold;  // at most 2^16
  std::uint16_t* kept;      // one bit per image
};

/// dst = src times `factor` where kept, else times zero: not-a-number stays.
struct ScaleKept {
  const float* src;  // [rows][16]
  const std::uint16_t* kept;
  std::size_t rows;
  float factor;
  float* dst;
};

/// For each image i of a run [n][16] of one channel, adds to sums[i] the numbers and to
/// squares[i] the squares, both counted from `around`. Sums of 64 pixels at a time are in
/// single precision, here and in AddNormSums.
struct AddMoments {
  const float* src;
  std::size_t size;  // a multiple of kPack, here and below
  float around;
  double* sums;
  double* squares;
};

/// dst = max(clamp_min, (scale * src + shift) + residual).
struct ScaleShift {
  const float* src;
  float scale, shift;
  const float* residual = nullptr;  // counts as zeros
  float clamp_min;                  // 0 makes it a ReLU; minus infinity does nothing
  float* dst;
  std::size_t size;
};

/// For each image i, adds to sums[i] the gradients, and to products[i] those times
/// (src - mean).
struct AddNormSums {
  const float* gradient;
  const float* src;
  std::size_t size;
  float mean;
  double* sums;
  double* products;
};

/// dst = from_gradient * gradient + (from_source * (src - mean) + constant) for the first
/// `images` of every sixteen, 0 for the others.
struct NormGradient {
  const float* gradient;
  const float* src;
  std::size_t size;
  float mean, from_gradient, from_source, constant;
  int images;
  float* dst;
};

/// Copies part of a matrix into one tile: dst[k * rows + i] is src[i * src_row + k] if
/// rows become the tile's rows, src[k * src_row + i] if columns do.
struct ToTile {
  const float* src;
  std::size_t src_row;
  int rows, depth;  // of the tile
  float* dst;
};

struct Kernels {
  KernelSet set;
  const char* name;  // of the kernel set: "avx2"
  int tile;          // largest tile of product and convolve_row

  void (*product)(const Product&);
  void (*rows_to_tile)(const ToTile&);
  void (*columns_to_tile)(const ToTile&);  // rows <= tile
  void (*convolve_row)(const ConvolutionRow&);
  void (*convolution_weights)(const ConvolutionWeights&);
  void (*pool_row)(const PoolRow&);
  void (*unpool_row)(const UnpoolRow&);
  void (*draw_kept)(const DrawKept&);
  void (*scale_kept)(const ScaleKept&);
  void (*add_moments)(const AddMoments&);
  void (*scale_shift)(const ScaleShift&);
  void (*add_norm_sums)(const AddNormSums&);
  void (*norm_gradient)(const NormGradient&);

  // Winograd's transforms: see winograd.h.
  void (*source_to_products)(const TileToProducts&);
  void (*gradient_to_products)(const TileToProducts&);
  /// dst = max(clamp_min, bias + A^T products A).
  void (*output_from_products)(const TileFromProducts&);
  /// dst += B products B^T.
  void (*add_source_gradient)(const TileFromProducts&);
  void (*taps_to_products)(const TapsToProducts&);
  void (*taps_from_products)(const TapsFromProducts&);

  /// dst[i][j] = max(clamp_min, dst[i][j] + bias[i]) for rows of kPack numbers.
  void (*add_bias)(float* dst, const float* bias, int rows, float clamp_min);
  /// gradient[i] = 0 where activation[i] is not positive.
  void (*mask_by_sign)(float* gradient, const float* activation, std::size_t size);
  /// dst[i] = x * (normal distribution up to x) with x = src[i]. Here and below `size` is
  /// a multiple of kPack.
  void (*gelu)(const float* src, float* dst, std::size_t size);
  /// src_gradient[i] = dst_gradient[i] * (slope of that at src[i]).
  void (*gelu_gradient)(const float* src, const float* dst_gradient, float* src_gradient,
                        std::size_t size);
  /// The sum of `size` numbers.
  float (*sum)(const float* values, std::size_t size);
};

const Kernels& reference_kernels();

/// The best for this processor: the reference where there are no others.
const Kernels& fast_kernels();

/// What the fast kernels are written with: "Highway 1.0.3".
const char* kernel_library();

}  // namespace convoy
