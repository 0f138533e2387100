// SPDX-License-Identifier: Apache-2.0
//
// The plain kernels: one obvious loop nest each. Tests compare the fast ones with them.
// Read these first.

#include <cmath>
#include <numbers>

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_winograd.h"

namespace convoy {
namespace {

constexpr int kTile = 6;

/// The larger of both; not-a-number stays what it is, so that a divergence is seen.
float at_least(float clamp_min, float value) {
  return value < clamp_min ? clamp_min : value;
}

/// The position of element (row, k) of an operand in tiles.
std::size_t tiled_index(const Tiles& tiles, int row, int k, int depth) {
  int tile = 0;
  while (tiles.begin(tile + 1) <= row) ++tile;
  const std::size_t before = static_cast<std::size_t>(tiles.begin(tile)) * depth;
  return before + static_cast<std::size_t>(k) * tiles.size(tile) +
         (row - tiles.begin(tile));
}

void product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int i = 0; i < p.rows; ++i) {
    for (int j = 0; j < p.columns; ++j) {
      float sum = p.accumulate ? p.dst[i * p.dst_row + j] : 0.0f;
      for (int n = 0; n < p.pieces * p.depth; ++n) {
        const int piece = n / p.depth, k = n % p.depth;
        const std::size_t left = p.a_row > 0 ? i * p.a_row + k * p.a_stride
                                             : tiled_index(tiles, i, k, p.depth);
        sum += p.a[piece * p.a_piece + left] *
               p.b[piece * p.b_piece + static_cast<std::size_t>(k) * kPack + j];
      }
      p.dst[i * p.dst_row + j] = sum;
    }
  }
}

float convolve_pixel(const ConvolutionRow& row, const Tiles& tiles, int k, int x,
                     int image) {
  const int taps = row.src_channels * row.taps_high * row.taps_wide;
  float sum = row.bias == nullptr ? 0.0f : row.bias[k];
  for (int c = 0, t = 0; c < row.src_channels; ++c) {
    for (int r = 0; r < row.taps_high; ++r) {
      for (int s = 0; s < row.taps_wide; ++s, ++t) {
        const int y = row.top + r, column = row.left + x * row.stride + s;
        if (y < 0 || y >= row.src_height || column < 0 || column >= row.src_width)
          continue;
        const std::size_t pixel =
            (static_cast<std::size_t>(c) * row.src_height + y) * row.src_width + column;
        sum +=
            row.weights[tiled_index(tiles, k, t, taps)] * row.src[pixel * kPack + image];
      }
    }
  }
  return sum;
}

void convolve_row(const ConvolutionRow& row) {
  const Tiles tiles(row.dst_channels, kTile);
  for (int k = 0; k < row.dst_channels; ++k) {
    for (int x = 0; x < row.columns; ++x) {
      for (int image = 0; image < kPack; ++image) {
        row.dst[k * row.dst_channel + x * row.dst_column + image] =
            at_least(row.clamp_min, convolve_pixel(row, tiles, k, x, image));
      }
    }
  }
}

float weight_gradient(const ConvolutionWeights& w, int k, int c, int r, int s) {
  float sum = 0;
  for (int y = 0; y < w.dst_height; ++y) {
    for (int x = 0; x < w.dst_width; ++x) {
      const std::size_t dst =
          (static_cast<std::size_t>(k) * w.dst_height + y) * w.dst_width + x;
      const std::size_t src =
          (static_cast<std::size_t>(c) * w.src_height + y * w.stride + r) * w.src_width +
          x * w.stride + s;
      for (int image = 0; image < kPack; ++image) {
        sum += w.dst_gradient[dst * kPack + image] * w.src[src * kPack + image];
      }
    }
  }
  return sum;
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
      for (int i = 1; i < pool.window * pool.window; ++i) {
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
      for (int i = 0; i < pool.window * pool.window; ++i) {
        const int r = i / pool.window, s = i % pool.window;
        float& element =
            pool.src_gradient[r * pool.src_row + (x * pool.stride + s) * kPack + image];
        element = (pool.accumulate ? element : 0.0f) + (argmax == i ? gradient : 0.0f);
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

void add_moments(const AddMoments& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const double value = static_cast<double>(work.src[i]) - work.around;
    work.sums[i % kPack] += value;
    work.squares[i % kPack] += value * value;
  }
}

void scale_shift(const ScaleShift& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const float residual = work.residual == nullptr ? 0 : work.residual[i];
    work.dst[i] =
        at_least(work.clamp_min, work.scale * work.src[i] + work.shift + residual);
  }
}

void add_norm_sums(const AddNormSums& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const double gradient = work.gradient[i];
    work.sums[i % kPack] += gradient;
    work.products[i % kPack] += gradient * (work.src[i] - work.mean);
  }
}

void norm_gradient(const NormGradient& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const bool real = static_cast<int>(i % kPack) < work.images;
    const float gradient = work.from_gradient * work.gradient[i] +
                           work.from_source * (work.src[i] - work.mean) + work.constant;
    work.dst[i] = real ? gradient : 0;
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

double normal_up_to(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

void gelu(const float* src, float* dst, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const double x = static_cast<double>(src[i]);
    dst[i] = static_cast<float>(x * normal_up_to(x));
  }
}

void gelu_gradient(const float* src, const float* dst_gradient, float* src_gradient,
                   std::size_t size) {
  const double factor = 1 / std::sqrt(2 * std::numbers::pi);
  for (std::size_t i = 0; i < size; ++i) {
    const double x = static_cast<double>(src[i]);
    const double slope = normal_up_to(x) + x * factor * std::exp(-x * x / 2);
    src_gradient[i] = static_cast<float>(slope * static_cast<double>(dst_gradient[i]));
  }
}

void mask_by_sign(float* gradient, const float* activation, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!(activation[i] > 0)) gradient[i] = 0;
  }
}

float sum(const float* values, std::size_t size) {
  float total = 0;
  for (std::size_t i = 0; i < size; ++i) total += values[i];
  return total;
}

}  // namespace

const Kernels& reference_kernels() {
  static const Kernels kernels = {
      .name = "reference",
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
      .source_to_products = reference::source_to_products,
      .gradient_to_products = reference::gradient_to_products,
      .output_from_products = reference::output_from_products,
      .add_source_gradient = reference::add_source_gradient,
      .taps_to_products = reference::taps_to_products,
      .taps_from_products = reference::taps_from_products,
      .add_bias = add_bias,
      .mask_by_sign = mask_by_sign,
      .gelu = gelu,
      .gelu_gradient = gelu_gradient,
      .sum = sum,
  };
  return kernels;
}

}  // namespace convoy
