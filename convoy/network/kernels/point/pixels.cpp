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

const PixelKernels kPixels = {gather_pixels};

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

}  // namespace

const PixelKernels kPixels = {gather_pixels};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(PixelKernels, pixel_kernels, kPixels)
#endif
