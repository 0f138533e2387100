// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/pixels.h"

#include <algorithm>

#include "convoy/network/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/pixels.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// kChannels of them from channel c on. What is gathered next is fetched into the
/// second-level cache: in the first, planes of many sizes fall on the same few lines.
template <int kChannels>
HWY_INLINE void gather_channels(const GatherPixels& work, std::size_t c) {
  constexpr int kRead = 0, kSecondLevel = 2;
  const D d;
  const float* src = work.src + c * work.src_channel;
  float* dst = work.dst + c * kPack;
  const std::size_t ahead = work.pixels * kPack;
  for (std::size_t i = 0; i < work.pixels; ++i, src += kPack, dst += work.dst_pixel) {
#pragma GCC unroll 4
    for (int n = 0; n < kChannels; ++n) {
      const float* pixel = src + n * work.src_channel;
      __builtin_prefetch(pixel + ahead, kRead, kSecondLevel);
      for (int v = 0; v < kPack; v += kWidth) {
        hn::StoreU(hn::LoadU(d, pixel + v), d, dst + n * kPack + v);
      }
    }
  }
}

void gather_pixels(const GatherPixels& work) {
  std::size_t c = 0;
  for (; c + 4 <= work.channels; c += 4) gather_channels<4>(work, c);
  for (; c < work.channels; ++c) gather_channels<1>(work, c);
  const std::size_t missing = round_up(c, kPack) - c;
  for (std::size_t i = 0; missing > 0 && i < work.pixels; ++i) {
    std::fill_n(work.dst + i * work.dst_pixel + c * kPack, missing * kPack, 0.0f);
  }
}

void stream_rows(const StreamRows& work) {
  const D d;
  const std::size_t size = work.pixels * kPack;
  for (std::size_t row = 0; row < work.rows; ++row) {
    const float* src = work.src + row * size;
    float* dst = work.dst + row * work.dst_row;
    for (std::size_t i = 0; i < size; i += kWidth) {
      hn::Stream(hn::LoadU(d, src + i), d, dst + i);
    }
  }
}

void finish_stream() { hwy::FlushStream(); }

const PixelKernels kPixels = {gather_pixels, stream_rows, finish_stream};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

void gather_pixels(const GatherPixels& work) {
  for (std::size_t i = 0; i < work.pixels; ++i) {
    float* dst = work.dst + i * work.dst_pixel;
    for (std::size_t c = 0; c < work.channels; ++c) {
      std::copy_n(work.src + c * work.src_channel + i * kPack, kPack, dst + c * kPack);
    }
    std::fill(dst + work.channels * kPack, dst + round_up(work.channels, kPack) * kPack,
              0.0f);
  }
}

void stream_rows(const StreamRows& work) {
  const std::size_t size = work.pixels * kPack;
  for (std::size_t row = 0; row < work.rows; ++row) {
    std::copy_n(work.src + row * size, size, work.dst + row * work.dst_row);
  }
}

void finish_stream() {}

}  // namespace

const PixelKernels kPixels = {gather_pixels, stream_rows, finish_stream};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(PixelKernels, pixel_kernels, kPixels)
#endif
