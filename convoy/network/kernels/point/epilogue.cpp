// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/epilogue.h"

#include <cmath>

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/epilogue.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

void add_bias(const AddBias& work) {
  const D d;
  const V least = hn::Set(d, work.clamp_min);
  const float* bias = work.bias;
  float* dst = work.dst;
  for (const float* end = bias + work.rows; bias < end; ++bias, dst += kPack) {
    const V offset = hn::Set(d, *bias);
    for (int v = 0; v < kPack; v += kWidth) {
      hn::StoreU(at_least(least, hn::Add(hn::LoadU(d, dst + v), offset)), d, dst + v);
    }
  }
}

template <bool kResidual, bool kStream>
void scale_shift_by(const ScaleShift& work) {
  const D d;
  const V scale = hn::Set(d, work.scale), shift = hn::Set(d, work.shift);
  const V clamp_min = hn::Set(d, work.clamp_min);
  const V clamp_max = hn::Set(d, work.clamp_max);
  for (std::size_t i = 0; i < work.size; i += kWidth) {
    V value = hn::MulAdd(scale, hn::LoadU(d, work.src + i), shift);
    if constexpr (kResidual) value = hn::Add(value, hn::LoadU(d, work.residual + i));
    value = at_most(clamp_max, at_least(clamp_min, value));
    if constexpr (kStream) {
      hn::Stream(value, d, work.dst + i);
    } else {
      hn::StoreU(value, d, work.dst + i);
    }
  }
  if constexpr (kStream) hwy::FlushStream();
}

void scale_shift(const ScaleShift& work) {
  const bool residual = work.residual != nullptr;
  if (work.stream) {
    residual ? scale_shift_by<true, true>(work) : scale_shift_by<false, true>(work);
  } else {
    residual ? scale_shift_by<true, false>(work) : scale_shift_by<false, false>(work);
  }
}

void mask_by_sign(const MaskBySign& work) {
  const D d;
  float* gradient = work.gradient;
  const float* activation = work.activation;
  const std::size_t size = work.size;
  std::size_t i = 0;
  for (; i + kWidth <= size; i += kWidth) {
    const auto positive = hn::Gt(hn::LoadU(d, activation + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(positive, hn::LoadU(d, gradient + i)), d, gradient + i);
  }
  for (; i < size; ++i) gradient[i] = activation[i] > 0 ? gradient[i] : 0;
}

void mask_by_range(const MaskByRange& work) {
  const D d;
  const V above = hn::Set(d, work.above), below = hn::Set(d, work.below);
  for (std::size_t i = 0; i < work.size; i += kWidth) {
    const V value = hn::LoadU(d, work.activation + i);
    const auto inside = hn::And(hn::Lt(above, value), hn::Lt(value, below));
    hn::StoreU(hn::IfThenElseZero(inside, hn::LoadU(d, work.gradient + i)), d,
               work.gradient + i);
  }
}

float sum(const float* values, std::size_t size) {
  const D d;
  V sums[kVectors];
  for (V& lanes : sums) lanes = hn::Zero(d);
  for (std::size_t i = 0; i < size; i += kPack) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = hn::Add(sums[v], hn::LoadU(d, values + i + v * kWidth));
    }
  }
  return sum_of_lanes(sums);
}

const EpilogueKernels kEpilogue = {add_bias, scale_shift, mask_by_sign, mask_by_range,
                                   sum};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

void add_bias(const AddBias& work) {
  for (int i = 0; i < work.rows * kPack; ++i) {
    work.dst[i] = at_least(work.clamp_min, work.dst[i] + work.bias[i / kPack]);
  }
}

CONVOY_WITH_FMA void scale_shift(const ScaleShift& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    float value = std::fma(work.scale, work.src[i], work.shift);
    if (work.residual != nullptr) value += work.residual[i];
    work.dst[i] = at_most(work.clamp_max, at_least(work.clamp_min, value));
  }
}

void mask_by_sign(const MaskBySign& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    if (!(work.activation[i] > 0)) work.gradient[i] = 0;
  }
}

void mask_by_range(const MaskByRange& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const float value = work.activation[i];
    if (!(work.above < value && value < work.below)) work.gradient[i] = 0;
  }
}

float sum(const float* values, std::size_t size) {
  Lanes sums = {};
  for (std::size_t i = 0; i < size; ++i) sums[i % kPack] += values[i];
  return sum_of_lanes(sums);
}

}  // namespace

const EpilogueKernels kEpilogue = {add_bias, scale_shift, mask_by_sign, mask_by_range,
                                   sum};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(EpilogueKernels, epilogue_kernels, kEpilogue)
#endif
