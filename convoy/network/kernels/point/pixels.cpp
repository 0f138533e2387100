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

void gather_pixels(const GatherPixels& work) {
  const D d;
  const std::size_t ahead = work.pixels * kPack;
  for (std::size_t c = 0; c < round_up(work.channels, kPack); ++c) {
    const bool real = c < work.channels;
    const float* src = work.src + (real ? c * work.src_channel : 0);
    float* dst = work.dst + c * kPack;
    for (std::size_t i = 0; i < work.pixels; ++i, src += kPack, dst += work.dst_pixel) {
      if (real) hwy::Prefetch(src + ahead);
      for (int v = 0; v < kPack; v += kWidth) {
        hn::StoreU(real ? hn::LoadU(d, src + v) : hn::Zero(d), d, dst + v);
      }
    }
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
