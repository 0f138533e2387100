// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/broadcast.h"

#include <cmath>

#include "convoy/network/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/broadcast.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// Calls operation(a, b) for the vectors of a channel; b is one pixel for all of them, or
/// one per pixel.
template <class Operation>
HWY_INLINE void combine(const Combine& work, const Operation& operation) {
  const D d;
  for (std::size_t c = 0; c < work.channels; ++c) {
    const float* a = work.a + c * work.pixels * kPack;
    const float* b = work.b + c * work.b_stride.channel;
    float* dst = work.dst + c * work.pixels * kPack;
    for (std::size_t p = 0; p < work.pixels; ++p) {
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kPack; v += kWidth) {
        const V second = hn::LoadU(d, b + p * work.b_stride.pixel + v);
        hn::StoreU(operation(hn::LoadU(d, a + p * kPack + v), second), d,
                   dst + p * kPack + v);
      }
    }
  }
}

void add_broadcast(const Combine& work) {
  combine(work, [](V a, V b) HWY_ATTR { return add(a, b); });
}

void multiply_broadcast(const Combine& work) {
  combine(work, [](V a, V b) HWY_ATTR { return mul(a, b); });
}

void scale_channels(const ScaleChannels& work) {
  const D d;
  for (std::size_t c = 0; c < work.channels; ++c) {
    const V scale = number(work.scale[c]);
    const std::size_t begin = c * work.pixels * kPack;
    for (std::size_t i = begin; i < begin + work.pixels * kPack; i += kWidth) {
      hn::StoreU(mul(hn::LoadU(d, work.src + i), scale), d, work.dst + i);
    }
  }
}

/// Sums of one channel: in registers while all pixels have the same.
template <class Term>
HWY_INLINE void add_terms(float* sums, std::size_t stride, std::size_t pixels,
                          const Term& term) {
  const D d;
  V parts[kVectors];
  for (std::size_t p = 0; p < pixels; ++p) {
    const bool load = p == 0 || stride != 0, store = p + 1 == pixels || stride != 0;
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* sum = sums + p * stride + v * kWidth;
      if (load) parts[v] = hn::LoadU(d, sum);
      parts[v] = term(p * kPack + v * kWidth, parts[v]);
      if (store) hn::StoreU(parts[v], d, sum);
    }
  }
}

void add_products(const AddProducts& work) {
  const D d;
  for (std::size_t c = 0; c < work.channels; ++c) {
    const float* gradient = work.gradient + c * work.pixels * kPack;
    const float* factor =
        work.factor == nullptr ? nullptr : work.factor + c * work.pixels * kPack;
    const auto plain = [&](std::size_t i, V sum)
                           HWY_ATTR { return add(sum, hn::LoadU(d, gradient + i)); };
    const auto product = [&](std::size_t i, V sum) HWY_ATTR {
      return mul_add(hn::LoadU(d, gradient + i), hn::LoadU(d, factor + i), sum);
    };
    float* sums = work.sums + c * work.sums_stride.channel;
    if (factor == nullptr) {
      add_terms(sums, work.sums_stride.pixel, work.pixels, plain);
    } else {
      add_terms(sums, work.sums_stride.pixel, work.pixels, product);
    }
  }
}

const BroadcastKernels kBroadcast = {add_broadcast, multiply_broadcast, scale_channels,
                                     add_products};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

/// Calls work(at, other) for every number: its place, and that in a broadcast operand.
template <class Work>
void for_all(std::size_t channels, std::size_t pixels, BroadcastStride stride,
             const Work& work) {
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t p = 0; p < pixels; ++p) {
      for (std::size_t row = 0; row < kPack; ++row) {
        work((c * pixels + p) * kPack + row, c * stride.channel + p * stride.pixel + row);
      }
    }
  }
}

void add_broadcast(const Combine& work) {
  for_all(work.channels, work.pixels, work.b_stride,
          [&](std::size_t i, std::size_t j) { work.dst[i] = work.a[i] + work.b[j]; });
}

void multiply_broadcast(const Combine& work) {
  for_all(work.channels, work.pixels, work.b_stride,
          [&](std::size_t i, std::size_t j) { work.dst[i] = work.a[i] * work.b[j]; });
}

void scale_channels(const ScaleChannels& work) {
  for (std::size_t i = 0; i < work.channels * work.pixels * kPack; ++i) {
    work.dst[i] = work.src[i] * work.scale[i / (work.pixels * kPack)];
  }
}

void add_products(const AddProducts& work) {
  for_all(
      work.channels, work.pixels, work.sums_stride, [&](std::size_t i, std::size_t j) {
        float& sum = work.sums[j];
        sum = work.factor == nullptr ? sum + work.gradient[i]
                                     : std::fma(work.gradient[i], work.factor[i], sum);
      });
}

}  // namespace

const BroadcastKernels kBroadcast = {add_broadcast, multiply_broadcast, scale_channels,
                                     add_products};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(BroadcastKernels, broadcast_kernels, kBroadcast)
#endif
