// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/softmax.h"

#include <cmath>

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/softmax.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

#include "convoy/network/kernels/math.inc"

/// Finds the largest of sixteen rows' scaled values; not-a-number stays.
HWY_INLINE V largest_of(const Softmax& work, int v) {
  const D d;
  V largest = hn::LoadU(d, work.values + v);
  for (std::size_t c = 1; c < work.columns; ++c) {
    const V value = hn::LoadU(d, work.values + c * kPack + v);
    largest = hn::IfThenElse(hn::Le(value, largest), largest, value);
  }
  return mul(number(work.scale), largest);
}

void softmax(const Softmax& work) {
  const D d;
  const V scale = number(work.scale);
  for (int v = 0; v < kPack; v += kWidth) {
    if (!work.known) hn::StoreU(largest_of(work, v), d, work.moments->largest + v);
    const V largest = hn::LoadU(d, work.moments->largest + v);
    V sum = number(0);
    for (std::size_t c = 0; c < work.columns; ++c) {
      float* value = work.values + c * kPack + v;
      // scale * value - largest, rounded once.
      const V power = exponential(mul_add(scale, hn::LoadU(d, value), negated(largest)));
      hn::StoreU(power, d, value);
      sum = add(sum, power);
    }
    if (!work.known) hn::StoreU(div(number(1), sum), d, work.moments->inverse + v);
    const V inverse = hn::LoadU(d, work.moments->inverse + v);
    for (std::size_t c = 0; c < work.columns; ++c) {
      float* value = work.values + c * kPack + v;
      hn::StoreU(mul(hn::LoadU(d, value), inverse), d, value);
    }
  }
}

void softmax_gradient(const SoftmaxGradient& work) {
  const D d;
  const V scale = number(work.scale);
  for (int v = 0; v < kPack; v += kWidth) {
    V sum = number(0);
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + static_cast<std::size_t>(v);
      sum = mul_add(hn::LoadU(d, work.probabilities + at),
                    hn::LoadU(d, work.gradient + at), sum);
    }
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + static_cast<std::size_t>(v);
      const V weight = mul(scale, hn::LoadU(d, work.probabilities + at));
      hn::StoreU(mul(weight, sub(hn::LoadU(d, work.gradient + at), sum)), d,
                 work.gradient + at);
    }
  }
}

const SoftmaxKernels kSoftmax = {softmax, softmax_gradient};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

#include "convoy/network/kernels/math.inc"

void softmax(const Softmax& work) {
  for (std::size_t row = 0; row < kPack; ++row) {
    const auto value = [&](std::size_t c) -> float& {
      return work.values[c * kPack + row];
    };
    if (!work.known) {
      float largest = value(0);
      for (std::size_t c = 1; c < work.columns; ++c) {
        if (!(value(c) <= largest)) largest = value(c);
      }
      work.moments->largest[row] = work.scale * largest;
    }
    float sum = 0;
    for (std::size_t c = 0; c < work.columns; ++c) {
      value(c) = exponential(std::fma(work.scale, value(c), -work.moments->largest[row]));
      sum += value(c);
    }
    if (!work.known) work.moments->inverse[row] = 1 / sum;
    for (std::size_t c = 0; c < work.columns; ++c) {
      value(c) *= work.moments->inverse[row];
    }
  }
}

void softmax_gradient(const SoftmaxGradient& work) {
  for (std::size_t row = 0; row < kPack; ++row) {
    float sum = 0;
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + row;
      sum = std::fma(work.probabilities[at], work.gradient[at], sum);
    }
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + row;
      work.gradient[at] = work.scale * work.probabilities[at] * (work.gradient[at] - sum);
    }
  }
}

}  // namespace

const SoftmaxKernels kSoftmax = {softmax, softmax_gradient};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(SoftmaxKernels, softmax_kernels, kSoftmax)
#endif
