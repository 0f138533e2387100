// SPDX-License-Identifier: Apache-2.0
//
// The plain kernels: one obvious loop nest each. The fast ones end at the same bits,
// because products are added to a sum in this order, each by one fused multiply-add.
// Read these first.

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"
#include "convoy/network/kernels/reference_winograd.h"

namespace convoy {
namespace reference {
namespace {

#include "convoy/network/kernels/math.inc"

constexpr int kTile = 6;

/// One number per image.
using Lanes = float[kPack];

/// The sum of all images: lane i and lane i + 8, of these i and i + 4, and so on.
float sum_of_lanes(const Lanes& numbers) {
  Lanes lanes;
  std::copy_n(numbers, kPack, lanes);
  for (int half = kPack / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

/// The position of element (row, k) of an operand in tiles.
std::size_t tiled_index(const Tiles& tiles, int row, int k, int depth) {
  int tile = 0;
  while (tiles.begin(tile + 1) <= row) ++tile;
  const std::size_t before = static_cast<std::size_t>(tiles.begin(tile)) * depth;
  return before + static_cast<std::size_t>(k) * tiles.size(tile) +
         (row - tiles.begin(tile));
}

/// One row of the product.
CONVOY_WITH_FMA void product_row(const Product& p, const Tiles& tiles, int i) {
  float* dst = p.dst + i * p.dst_row;
  Lanes sums = {};
  if (p.accumulate) std::copy_n(dst, p.columns, sums);
  for (int piece = 0; piece < p.pieces; ++piece) {
    for (int k = 0; k < p.depth; ++k) {
      const std::size_t left =
          p.a_row > 0 ? i * p.a_row + k * p.a_stride : tiled_index(tiles, i, k, p.depth);
      const float factor = p.a[piece * p.a_piece + left];
      const float* b = p.b + piece * p.b_piece + static_cast<std::size_t>(k) * kPack;
      for (int j = 0; j < kPack; ++j) sums[j] = std::fma(factor, b[j], sums[j]);
    }
  }
  std::copy_n(sums, p.columns, dst);
}

void product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int i = 0; i < p.rows; ++i) product_row(p, tiles, i);
}

/// One pixel of one channel, of sixteen images.
CONVOY_WITH_FMA void convolve_pixel(const ConvolutionRow& row, const Tiles& tiles, int k,
                                    int x, float* dst) {
  const int taps = row.src_channels * row.taps_high * row.taps_wide;
  Lanes sums;
  std::fill_n(sums, kPack, row.bias == nullptr ? 0.0f : row.bias[k]);
  for (int c = 0, t = 0; c < row.src_channels; ++c) {
    for (int r = 0; r < row.taps_high; ++r) {
      for (int s = 0; s < row.taps_wide; ++s, ++t) {
        const int y = row.top + r * row.dilation_high;
        const int column = row.left + x * row.stride + s * row.dilation_wide;
        if (y < 0 || y >= row.src_height || column < 0 || column >= row.src_width)
          continue;
        const float factor = row.weights[tiled_index(tiles, k, t, taps)];
        const std::size_t pixel =
            (static_cast<std::size_t>(c) * row.src_height + y) * row.src_width + column;
        const float* src = row.src + pixel * kPack;
        for (int i = 0; i < kPack; ++i) sums[i] = std::fma(factor, src[i], sums[i]);
      }
    }
  }
  for (int i = 0; i < kPack; ++i) dst[i] = at_least(row.clamp_min, sums[i]);
}

void convolve_row(const ConvolutionRow& row) {
  const Tiles tiles(row.dst_channels, kTile);
  for (int k = 0; k < row.dst_channels; ++k) {
    for (int x = 0; x < row.columns; ++x) {
      convolve_pixel(row, tiles, k, x,
                     row.dst + k * row.dst_channel + x * row.dst_column);
    }
  }
}

CONVOY_WITH_FMA float weight_gradient(const ConvolutionWeights& w, int k, int c, int r,
                                      int s) {
  Lanes sums = {};
  for (int y = 0; y < w.dst_height; ++y) {
    for (int x = 0; x < w.dst_width; ++x) {
      const std::size_t dst =
          (static_cast<std::size_t>(k) * w.dst_height + y) * w.dst_width + x;
      const std::size_t src = (static_cast<std::size_t>(c) * w.src_height +
                               y * w.stride_high + r * w.dilation_high) *
                                  w.src_width +
                              x * w.stride_wide + s * w.dilation_wide;
      for (int i = 0; i < kPack; ++i) {
        sums[i] =
            std::fma(w.dst_gradient[dst * kPack + i], w.src[src * kPack + i], sums[i]);
      }
    }
  }
  return sum_of_lanes(sums);
}

void convolution_weights(const ConvolutionWeights& w) {
  float* gradient = w.gradient;
  for (int k = 0; k < w.dst_channels; ++k) {
    for (int c = 0; c < w.src_channels; ++c) {
      for (int r = 0; r < w.taps_high; ++r) {
        for (int s = 0; s < w.taps_wide; ++s)
          *gradient++ = weight_gradient(w, k, c, r, s);
      }
    }
  }
}

void pool_row(const PoolRow& pool) {
  for (int x = 0; x < pool.columns; ++x) {
    for (int image = 0; image < kPack; ++image) {
      const float* src = pool.src + x * pool.stride * kPack + image;
      float best = src[0];
      int argmax = 0;
      for (int i = 1; i < pool.high() * pool.window; ++i) {
        const float value = src[i / pool.window * pool.src_row + i % pool.window * kPack];
        if (value <= best || best != best) continue;  // not-a-number wins and stays
        best = value;
        argmax = i;
      }
      pool.dst[x * kPack + image] = at_least(pool.clamp_min, best);
      pool.argmax[x * kPack + image] = static_cast<std::uint8_t>(argmax);
    }
  }
}

void unpool_row(const UnpoolRow& pool) {
  for (int x = 0; x < pool.columns; ++x) {
    for (int image = 0; image < kPack; ++image) {
      const float gradient = pool.dst_gradient[x * kPack + image];
      const int argmax = pool.argmax[x * kPack + image];
      for (int i = 0; i < pool.high() * pool.window; ++i) {
        const int r = i / pool.window, s = i % pool.window;
        float& element =
            pool.src_gradient[r * pool.src_row + (x * pool.stride + s) * kPack + image];
        const float passed = argmax == i ? gradient : 0.0f;
        element = pool.accumulate ? passed + element : passed;
      }
    }
  }
}

void draw_kept(const DrawKept& draw) {
  for (std::size_t i = 0; i < draw.rows; ++i) {
    unsigned kept = 0;
    for (unsigned image = 0; image < kPack; ++image) {
      const std::uint64_t word = (draw.first + i) * (kPack / 2) + image / 2;
      const std::uint32_t bits = draw.random.word(word) >> (image % 2 * 16) & 0xFFFF;
      kept |= (bits >= draw.threshold ? 1u : 0u) << image;
    }
    draw.kept[i] = static_cast<std::uint16_t>(kept);
  }
}

void scale_kept(const ScaleKept& work) {
  for (std::size_t i = 0; i < work.rows * kPack; ++i) {
    const bool kept = (work.kept[i / kPack] >> (i % kPack) & 1) != 0;
    work.dst[i] = work.src[i] * (kept ? work.factor : 0);
  }
}

/// Adds up pair(i, first, second), which adds number i of a run to its image's two sums.
/// Of 64 pixels at a time they stay in single precision.
template <class Pair>
[[gnu::always_inline]] inline void add_pairs(std::size_t size, double* firsts,
                                             double* seconds, const Pair& pair) {
  constexpr std::size_t kChunk = 64 * kPack;
  for (std::size_t begin = 0; begin < size; begin += kChunk) {
    Lanes first = {}, second = {};
    for (std::size_t i = begin; i < std::min(size, begin + kChunk); ++i) {
      pair(i, first[i % kPack], second[i % kPack]);
    }
    for (int i = 0; i < kPack; ++i) {
      firsts[i] += static_cast<double>(first[i]);
      seconds[i] += static_cast<double>(second[i]);
    }
  }
}

CONVOY_WITH_FMA void add_moments(const AddMoments& work) {
  add_pairs(work.size, work.sums, work.squares,
            [&](std::size_t i, float& sum, float& squares) {
              const float value = work.src[i] - work.around;
              sum += value;
              squares = std::fma(value, value, squares);
            });
}

CONVOY_WITH_FMA void scale_shift(const ScaleShift& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    float value = std::fma(work.scale, work.src[i], work.shift);
    if (work.residual != nullptr) value += work.residual[i];
    work.dst[i] = at_least(work.clamp_min, value);
  }
}

CONVOY_WITH_FMA void add_norm_sums(const AddNormSums& work) {
  add_pairs(work.size, work.sums, work.products,
            [&](std::size_t i, float& sum, float& products) {
              const float gradient = work.gradient[i];
              sum += gradient;
              products = std::fma(gradient, work.src[i] - work.mean, products);
            });
}

CONVOY_WITH_FMA void norm_gradient(const NormGradient& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const bool real = static_cast<int>(i % kPack) < work.images;
    const float value = work.src[i] - work.mean;
    const float sum = std::fma(work.from_source, value, work.constant);
    work.dst[i] = real ? std::fma(work.from_gradient, work.gradient[i], sum) : 0;
  }
}

void rows_to_tile(const ToTile& copy) {
  for (int k = 0; k < copy.depth; ++k) {
    for (int i = 0; i < copy.rows; ++i) {
      copy.dst[static_cast<std::size_t>(k) * copy.rows + i] =
          copy.src[i * copy.src_row + k];
    }
  }
}

void columns_to_tile(const ToTile& copy) {
  for (int k = 0; k < copy.depth; ++k) {
    for (int i = 0; i < copy.rows; ++i) {
      copy.dst[static_cast<std::size_t>(k) * copy.rows + i] =
          copy.src[k * copy.src_row + i];
    }
  }
}

void add_bias(float* dst, const float* bias, int rows, float clamp_min) {
  for (int i = 0; i < rows * kPack; ++i)
    dst[i] = at_least(clamp_min, dst[i] + bias[i / kPack]);
}

CONVOY_WITH_FMA void gelu(const float* src, float* dst, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) dst[i] = gelu_of(src[i]);
}

CONVOY_WITH_FMA void gelu_gradient(const float* src, const float* dst_gradient,
                                   float* src_gradient, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    src_gradient[i] = gelu_slope(src[i]) * dst_gradient[i];
  }
}

void mask_by_sign(float* gradient, const float* activation, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!(activation[i] > 0)) gradient[i] = 0;
  }
}

float sum(const float* values, std::size_t size) {
  Lanes sums = {};
  for (std::size_t i = 0; i < size; ++i) sums[i % kPack] += values[i];
  return sum_of_lanes(sums);
}

}  // namespace

const Kernels& table() {
  static const Kernels kernels = {
      .set = KernelSet::reference,
      .name = name_of(KernelSet::reference),
      .tile = kTile,
      .product = product,
      .rows_to_tile = rows_to_tile,
      .columns_to_tile = columns_to_tile,
      .convolve_row = convolve_row,
      .convolution_weights = convolution_weights,
      .pool_row = pool_row,
      .unpool_row = unpool_row,
      .draw_kept = draw_kept,
      .scale_kept = scale_kept,
      .add_moments = add_moments,
      .scale_shift = scale_shift,
      .add_norm_sums = add_norm_sums,
      .norm_gradient = norm_gradient,
      .source_to_products = source_to_products,
      .gradient_to_products = gradient_to_products,
      .output_from_products = output_from_products,
      .add_source_gradient = add_source_gradient,
      .taps_to_products = taps_to_products,
      .taps_from_products = taps_from_products,
      .add_bias = add_bias,
      .mask_by_sign = mask_by_sign,
      .gelu = gelu,
      .gelu_gradient = gelu_gradient,
      .sum = sum,
  };
  return kernels;
}

}  // namespace reference

const Kernels& reference_kernels() { return reference::table(); }

}  // namespace convoy
