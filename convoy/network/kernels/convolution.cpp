// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/convolution.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/convolution.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// The least number of steps that reach a distance; 0 if there is none. A division takes
/// longer than a few taps.
HWY_INLINE int steps_to(int distance, int step) {
  if (step == 1) return std::max(0, distance);
  return distance <= 0 ? 0 : (distance + step - 1) / step;
}

/// One output pixel of kRows channels: sums stay in registers over all taps.
template <int kRows>
HWY_INLINE void convolve_pixel(const ConvolutionRow& row,
                               const float* HWY_RESTRICT weights, const float* bias,
                               int left, float* HWY_RESTRICT dst) {
  const D d;
  V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[i][v] = hn::Set(d, bias == nullptr ? 0 : bias[i]);
  }
  const int down = row.dilation_high, across = row.dilation_wide;
  const int first_r = steps_to(-row.top, down);
  const int last_r = std::min(row.taps_high, steps_to(row.src_height - row.top, down));
  const int first_s = steps_to(-left, across);
  const int last_s = std::min(row.taps_wide, steps_to(row.src_width - left, across));
  const std::size_t next_pixel = static_cast<std::size_t>(across) * kPack;
  const std::size_t taps = static_cast<std::size_t>(row.taps_high) * row.taps_wide;
  const std::size_t plane = static_cast<std::size_t>(row.src_height) * row.src_width;
  const float* corner =
      row.src + (static_cast<std::ptrdiff_t>(row.top) * row.src_width + left) * kPack;
  for (int c = 0; c < row.src_channels; ++c) {
    for (int r = first_r; r < last_r; ++r) {
      const float* HWY_RESTRICT src =
          corner + (c * plane + static_cast<std::size_t>(r) * down * row.src_width +
                    static_cast<std::size_t>(first_s) * across) *
                       kPack;
      const float* HWY_RESTRICT w =
          weights + (c * taps + r * row.taps_wide + first_s) * kRows;
      for (int s = first_s; s < last_s; ++s, src += next_pixel, w += kRows) {
        V pixel[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) pixel[v] = hn::LoadU(d, src + v * kWidth);
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) {
          const V factor = hn::Set(d, w[i]);
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            sums[i][v] = hn::MulAdd(factor, pixel[v], sums[i][v]);
          }
        }
      }
    }
  }
  const V least = hn::Set(d, row.clamp_min);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(at_least(least, sums[i][v]), d, dst + i * row.dst_channel + v * kWidth);
    }
  }
}

void convolve_row(const ConvolutionRow& row) {
  const Tiles tiles(row.dst_channels, kTile);
  const int taps = row.src_channels * row.taps_high * row.taps_wide;
  for (int tile = 0; tile < tiles.count; ++tile) {
    const int first = tiles.begin(tile);
    const float* weights = row.weights + static_cast<std::size_t>(first) * taps;
    const float* bias = row.bias == nullptr ? nullptr : row.bias + first;
    float* dst = row.dst + first * row.dst_channel;
    with_constant<kTile>(tiles.size(tile), [&](auto rows) HWY_ATTR {
      for (int x = 0; x < row.columns; ++x) {
        convolve_pixel<rows()>(row, weights, bias, row.left + x * row.stride,
                               dst + x * row.dst_column);
      }
    });
  }
}

// The gradient of the weights sums over pixels and images, so the sums are whole vectors
// of images, kept for a tile of channels x taps and added up across at the very end.
// Source pixels of all taps of a tile and the gradients of all its channels are read once
// for kChannelTile * kTapTile multiply-adds.
constexpr int kChannelTile = 4;
constexpr int kTapTile = 3;
constexpr int kTapTilesAtOnce = 16;

using TileSums = float[kChannelTile * kTapTile * kPack];  // a lane per image

/// Adds rows [first, last) of the image to the sums of one tile, for the images of one
/// register: of those from number `v` on. Other instruction sets have other shares, but
/// every image has its own sum.
template <int kChannels, int kTaps>
HWY_INLINE void add_rows(const ConvolutionWeights& w, const float* HWY_RESTRICT gradient,
                         const float* const* HWY_RESTRICT src, int first, int last, int v,
                         float* HWY_RESTRICT tile_sums) {
  const D d;
  V sums[kChannels][kTaps];
#pragma GCC unroll 16
  for (int i = 0; i < kChannels; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < kTaps; ++t) {
      sums[i][t] = hn::Load(d, tile_sums + (i * kTaps + t) * kPack + v);
    }
  }
  const std::size_t plane = static_cast<std::size_t>(w.dst_height) * w.dst_width * kPack;
  const std::size_t src_stride = static_cast<std::size_t>(w.stride_wide) * kPack;
  for (int y = first; y < last; ++y) {
    const float* HWY_RESTRICT g =
        gradient + static_cast<std::size_t>(y) * w.dst_width * kPack + v;
    std::size_t offset =
        static_cast<std::size_t>(y) * w.stride_high * w.src_width * kPack + v;
    for (int x = 0; x < w.dst_width; ++x, g += kPack, offset += src_stride) {
      V pixels[kTaps];
#pragma GCC unroll 16
      for (int t = 0; t < kTaps; ++t) pixels[t] = hn::LoadU(d, src[t] + offset);
#pragma GCC unroll 16
      for (int i = 0; i < kChannels; ++i) {
        const V factor = hn::LoadU(d, g + i * plane);
#pragma GCC unroll 16
        for (int t = 0; t < kTaps; ++t) {
          sums[i][t] = hn::MulAdd(factor, pixels[t], sums[i][t]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kChannels; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < kTaps; ++t) {
      hn::Store(sums[i][t], d, tile_sums + (i * kTaps + t) * kPack + v);
    }
  }
}

/// All of one source channel's taps [first_tap, last_tap) for kChannels output channels.
template <int kChannels>
void tap_gradients(const ConvolutionWeights& w, const float* src, const float* gradient,
                   int first_tap, int last_tap, float* dst, std::size_t dst_channel) {
  HWY_ALIGN TileSums sums[kTapTilesAtOnce] = {};
  const Tiles tiles(last_tap - first_tap, kTapTile);
  // So many rows that their gradients stay in the first-level cache for all tiles of
  // taps.
  const int row_bytes = kChannels * w.dst_width * kPack * static_cast<int>(sizeof(float));
  const int band = std::max(1, (16 << 10) / row_bytes);
  for (int first = 0; first < w.dst_height; first += band) {
    const int last = std::min(w.dst_height, first + band);
    for (int tile = 0; tile < tiles.count; ++tile) {
      const float* taps[kTapTile];
      for (int t = 0; t < tiles.size(tile); ++t) {
        const int tap = first_tap + tiles.begin(tile) + t;
        const int r = tap / w.taps_wide * w.dilation_high;
        const int s = tap % w.taps_wide * w.dilation_wide;
        taps[t] = src + (static_cast<std::size_t>(r) * w.src_width + s) * kPack;
      }
      with_constant<kTapTile>(tiles.size(tile), [&](auto count) HWY_ATTR {
        for (int v = 0; v < kPack; v += kWidth) {
          add_rows<kChannels, count()>(w, gradient, taps, first, last, v, sums[tile]);
        }
      });
    }
  }
  for (int tile = 0; tile < tiles.count; ++tile) {
    const int count = tiles.size(tile);
    for (int i = 0; i < kChannels; ++i) {
      for (int t = 0; t < count; ++t) {
        dst[i * dst_channel + first_tap + tiles.begin(tile) + t] =
            sum_of_lanes(sums[tile] + (i * count + t) * kPack);
      }
    }
  }
}

void convolution_weights(const ConvolutionWeights& w) {
  const Tiles channels(w.dst_channels, kChannelTile);
  const int taps = w.taps_high * w.taps_wide;
  const std::size_t src_plane =
      static_cast<std::size_t>(w.src_height) * w.src_width * kPack;
  const std::size_t dst_plane =
      static_cast<std::size_t>(w.dst_height) * w.dst_width * kPack;
  const std::size_t dst_channel = static_cast<std::size_t>(w.src_channels) * taps;
  for (int tile = 0; tile < channels.count; ++tile) {
    const int k = channels.begin(tile);
    with_constant<kChannelTile>(channels.size(tile), [&](auto count) HWY_ATTR {
      for (int c = 0; c < w.src_channels; ++c) {
        float* dst = w.gradient + k * dst_channel + static_cast<std::size_t>(c) * taps;
        for (int tap = 0; tap < taps; tap += kTapTile * kTapTilesAtOnce) {
          tap_gradients<count()>(w, w.src + c * src_plane, w.dst_gradient + k * dst_plane,
                                 tap, std::min(taps, tap + kTapTile * kTapTilesAtOnce),
                                 dst, dst_channel);
        }
      }
    });
  }
}

const ConvolutionKernels kConvolution = {convolve_row, convolution_weights};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

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

}  // namespace

const ConvolutionKernels kConvolution = {convolve_row, convolution_weights};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(ConvolutionKernels, convolution_kernels, kConvolution)
#endif
