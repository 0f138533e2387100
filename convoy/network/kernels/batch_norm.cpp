// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/batch_norm.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

// Sums of this many pixels stay in single precision before they are added up in double.
constexpr std::size_t kPixelsAChunk = 64;

/// Sixteen pairs of sums, one per image, in registers.
struct PairSums {
  V first[kVectors], second[kVectors];

  HWY_INLINE PairSums() {
    for (int v = 0; v < kVectors; ++v) first[v] = second[v] = hn::Zero(D());
  }

  HWY_INLINE void add_to(double* firsts, double* seconds) const {
    HWY_ALIGN float numbers[2][kPack];
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(first[v], D(), numbers[0] + v * kWidth);
      hn::Store(second[v], D(), numbers[1] + v * kWidth);
    }
    for (int i = 0; i < kPack; ++i) {
      firsts[i] += static_cast<double>(numbers[0][i]);
      seconds[i] += static_cast<double>(numbers[1][i]);
    }
  }
};

/// Adds up what pair(at, first, second) adds to two registers for each vector of a run.
template <class Pair>
HWY_INLINE void add_pairs(std::size_t size, double* firsts, double* seconds,
                          const Pair& pair) {
  for (std::size_t i = 0; i < size;) {
    const std::size_t end = std::min(size, i + kPixelsAChunk * kPack);
    PairSums sums;
    for (; i < end; i += kPack) {
      for (int v = 0; v < kVectors; ++v) {
        pair(i + static_cast<std::size_t>(v) * kWidth, sums.first[v], sums.second[v]);
      }
    }
    sums.add_to(firsts, seconds);
  }
}

void add_moments(const AddMoments& work) {
  const D d;
  const V around = hn::Set(d, work.around);
  const auto pair = [&](std::size_t at, V& sum, V& squares) HWY_ATTR {
    const V value = hn::Sub(hn::LoadU(d, work.src + at), around);
    sum = hn::Add(sum, value);
    squares = hn::MulAdd(value, value, squares);
  };
  add_pairs(work.size, work.sums, work.squares, pair);
}

/// What a mask lets through.
template <bool kMasked>
struct Masked {
  explicit Masked(const NormMask* mask) {
    if constexpr (kMasked) {
      scale = number(mask->scale);
      shift = number(mask->shift);
      above = number(mask->above);
      below = number(mask->below);
    }
  }
  HWY_INLINE V operator()(V gradient, V src) const {
    if constexpr (!kMasked) return gradient;
    const V value = hn::MulAdd(scale, src, shift);
    const auto inside = hn::And(hn::Lt(above, value), hn::Lt(value, below));
    return hn::IfThenElseZero(inside, gradient);
  }

  V scale, shift, above, below;
};

template <bool kMasked>
void add_norm_sums_of(const AddNormSums& work) {
  const D d;
  const V mean = hn::Set(d, work.mean);
  const Masked<kMasked> masked(work.mask);
  const auto pair = [&](std::size_t at, V& sum, V& products) HWY_ATTR {
    const V src = hn::LoadU(d, work.src + at);
    const V gradient = masked(hn::LoadU(d, work.gradient + at), src);
    sum = hn::Add(sum, gradient);
    products = hn::MulAdd(gradient, hn::Sub(src, mean), products);
  };
  add_pairs(work.size, work.sums, work.products, pair);
}

void add_norm_sums(const AddNormSums& work) {
  work.mask == nullptr ? add_norm_sums_of<false>(work) : add_norm_sums_of<true>(work);
}

template <bool kMasked, bool kStream>
void norm_gradient_of(const NormGradient& work) {
  const D d;
  const V mean = hn::Set(d, work.mean), constant = hn::Set(d, work.constant);
  const V from_gradient = hn::Set(d, work.from_gradient);
  const V from_source = hn::Set(d, work.from_source);
  const Masked<kMasked> masked(work.mask);
  for (std::size_t i = 0; i < work.size; i += kPack) {
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t at = i + static_cast<std::size_t>(v) * kWidth;
      const int real = work.images - v * kWidth;
      const V src = hn::LoadU(d, work.src + at);
      const V sum = hn::MulAdd(from_source, hn::Sub(src, mean), constant);
      const V gradient =
          hn::MulAdd(from_gradient, masked(hn::LoadU(d, work.gradient + at), src), sum);
      const auto kept =
          hn::FirstN(d, static_cast<std::size_t>(std::clamp(real, 0, kWidth)));
      const V result = hn::IfThenElseZero(kept, gradient);
      if constexpr (kStream) {
        hn::Stream(result, d, work.dst + at);
      } else {
        hn::StoreU(result, d, work.dst + at);
      }
    }
  }
  if constexpr (kStream) hwy::FlushStream();
}

void norm_gradient(const NormGradient& work) {
  const bool masked = work.mask != nullptr;
  if (work.stream) {
    masked ? norm_gradient_of<true, true>(work) : norm_gradient_of<false, true>(work);
  } else {
    masked ? norm_gradient_of<true, false>(work) : norm_gradient_of<false, false>(work);
  }
}

const BatchNormKernels kBatchNorm = {add_moments, add_norm_sums, norm_gradient};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

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

[[gnu::always_inline]] inline float masked(const NormMask* mask, float gradient,
                                           float src) {
  if (mask == nullptr) return gradient;
  const float value = std::fma(mask->scale, src, mask->shift);
  return mask->above < value && value < mask->below ? gradient : 0;
}

CONVOY_WITH_FMA void add_norm_sums(const AddNormSums& work) {
  add_pairs(work.size, work.sums, work.products,
            [&](std::size_t i, float& sum, float& products) {
              const float gradient = masked(work.mask, work.gradient[i], work.src[i]);
              sum += gradient;
              products = std::fma(gradient, work.src[i] - work.mean, products);
            });
}

CONVOY_WITH_FMA void norm_gradient(const NormGradient& work) {
  for (std::size_t i = 0; i < work.size; ++i) {
    const bool real = static_cast<int>(i % kPack) < work.images;
    const float value = work.src[i] - work.mean;
    const float sum = std::fma(work.from_source, value, work.constant);
    const float gradient = masked(work.mask, work.gradient[i], work.src[i]);
    work.dst[i] = real ? std::fma(work.from_gradient, gradient, sum) : 0;
  }
}

}  // namespace

const BatchNormKernels kBatchNorm = {add_moments, add_norm_sums, norm_gradient};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(BatchNormKernels, batch_norm_kernels, kBatchNorm)
#endif
