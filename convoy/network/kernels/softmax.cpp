// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/softmax.h"

#include <cmath>
#include <limits>

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
#include "convoy/network/kernels/softmax.inc"

/// The largest of some rows' scaled values, four columns at a time. Where a value is
/// not-a-number it may be any: the row's sum is not-a-number then, whatever the largest.
HWY_INLINE V largest_of(const Softmax& work, int v) {
  const D d;
  V largest[4];
  for (V& one : largest) one = hn::LoadU(d, work.values + v);
  std::size_t c = 0;
  for (; c + 4 <= work.columns; c += 4) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      largest[i] = hn::Max(largest[i], hn::LoadU(d, work.values + (c + i) * kPack + v));
    }
  }
  for (; c < work.columns; ++c) {
    largest[0] = hn::Max(largest[0], hn::LoadU(d, work.values + c * kPack + v));
  }
  const V all = hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]));
  return largest_shift(mul(number(work.scale), all), work.masked);
}

/// Finds the moments of some rows, and leaves exp(x - largest) in their places.
HWY_INLINE void find_moments(const Softmax& work, int v) {
  const D d;
  const V scale = number(work.scale), largest = largest_of(work, v);
  V sum = number(0);
  for (std::size_t c = 0; c < work.columns; ++c) {
    float* value = work.values + c * kPack + v;
    const V power = power_of(scale, hn::LoadU(d, value), largest);
    hn::StoreU(power, d, value);
    sum = add(sum, power);
  }
  hn::StoreU(largest, d, work.moments->largest + v);
  hn::StoreU(inverse_of(sum, work.masked), d, work.moments->inverse + v);
}

void softmax(const Softmax& work) {
  const D d;
  const V scale = number(work.scale);
  for (int v = 0; v < kPack; v += kWidth) {
    if (!work.known) find_moments(work, v);
    const V largest = hn::LoadU(d, work.moments->largest + v);
    const V inverse = hn::LoadU(d, work.moments->inverse + v);
    for (std::size_t c = 0; c < work.columns; ++c) {
      float* value = work.values + c * kPack + v;
      const V found = hn::LoadU(d, value);
      const V power = work.known ? power_of(scale, found, largest) : found;
      hn::StoreU(mul(power, inverse), d, value);
    }
  }
}

void bias_scores(const BiasScores& work) {
  const D d;
  const IndexTag indices;
  const V scale = number(work.scale);
  for (std::size_t c = 0; c < work.columns; ++c) {
    const auto bits =
        hn::Set(indices, work.seen == nullptr ? 0xFFFF : std::int32_t{work.seen[c]});
    for (int v = 0; v < kPack; v += kWidth) {
      const std::size_t at = c * kPack + static_cast<std::size_t>(v);
      const V bias = work.bias == nullptr ? number(0) : hn::LoadU(d, work.bias + at);
      const V score = mul_add(scale, hn::LoadU(d, work.values + at), bias);
      const auto row = hn::Shl(hn::Set(indices, 1), hn::Iota(indices, v));
      const auto seen = hn::RebindMask(d, hn::TestBit(bits, row));
      hn::StoreU(hn::IfThenElse(seen, score, number(kUnseen)), d, work.values + at);
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
      const V probability = hn::LoadU(d, work.probabilities + at);
      const V rest = sub(hn::LoadU(d, work.gradient + at), sum);
      hn::StoreU(mul(mul(scale, probability), rest), d, work.gradient + at);
      if (work.bias_gradient == nullptr) continue;
      float* bias = work.bias_gradient + at;
      hn::StoreU(mul_add(probability, rest, hn::LoadU(d, bias)), d, bias);
    }
  }
}

const SoftmaxKernels kSoftmax = {softmax, softmax_gradient, bias_scores};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

#include "convoy/network/kernels/math.inc"
#include "convoy/network/kernels/softmax.inc"

CONVOY_WITH_FMA void softmax(const Softmax& work) {
  for (std::size_t row = 0; row < kPack; ++row) {
    const auto value = [&](std::size_t c) -> float& {
      return work.values[c * kPack + row];
    };
    float& largest = work.moments->largest[row];
    float& inverse = work.moments->inverse[row];
    if (!work.known) {
      float found = value(0);
      for (std::size_t c = 1; c < work.columns; ++c) {
        if (!(value(c) <= found)) found = value(c);
      }
      largest = largest_shift(work.scale * found, work.masked);
    }
    float sum = 0;
    for (std::size_t c = 0; c < work.columns; ++c) {
      value(c) = power_of(work.scale, value(c), largest);
      sum += value(c);
    }
    if (!work.known) inverse = inverse_of(sum, work.masked);
    for (std::size_t c = 0; c < work.columns; ++c) value(c) *= inverse;
  }
}

CONVOY_WITH_FMA void bias_scores(const BiasScores& work) {
  for (std::size_t i = 0; i < work.columns * kPack; ++i) {
    const bool seen =
        work.seen == nullptr || (work.seen[i / kPack] >> (i % kPack) & 1) != 0;
    const float bias = work.bias == nullptr ? 0 : work.bias[i];
    work.values[i] = seen ? std::fma(work.scale, work.values[i], bias) : kUnseen;
  }
}

CONVOY_WITH_FMA void softmax_gradient(const SoftmaxGradient& work) {
  for (std::size_t row = 0; row < kPack; ++row) {
    float sum = 0;
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + row;
      sum = std::fma(work.probabilities[at], work.gradient[at], sum);
    }
    for (std::size_t c = 0; c < work.columns; ++c) {
      const std::size_t at = c * kPack + row;
      const float probability = work.probabilities[at], rest = work.gradient[at] - sum;
      work.gradient[at] = work.scale * probability * rest;
      if (work.bias_gradient == nullptr) continue;
      work.bias_gradient[at] = std::fma(probability, rest, work.bias_gradient[at]);
    }
  }
}

}  // namespace

const SoftmaxKernels kSoftmax = {softmax, softmax_gradient, bias_scores};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(SoftmaxKernels, softmax_kernels, kSoftmax)
#endif
