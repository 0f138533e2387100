// SPDX-License-Identifier: Apache-2.0
//
// Rows are lanes, so a sum over features is a sum of vectors. To be exact and quick, a
// sum has four parts, which are added up every kFeaturesPerBlock features.

#include "convoy/network/kernels/row_norm.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/row_norm.cpp"
#include "convoy/network/kernels/targets.h"

#ifndef CONVOY_ROW_NORM_BLOCK
#define CONVOY_ROW_NORM_BLOCK
namespace convoy {
inline constexpr std::size_t kFeaturesPerBlock = 64;  // a multiple of four
}
#endif

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// The sum over all features of what term(feature, sum) adds to a sum.
template <class Term>
HWY_INLINE V sum_over_features(std::size_t features, const Term& term) {
  V total = number(0);
  for (std::size_t first = 0; first < features; first += kFeaturesPerBlock) {
    const std::size_t end = std::min(features, first + kFeaturesPerBlock);
    V parts[4] = {number(0), number(0), number(0), number(0)};
    std::size_t f = first;
    for (; f + 4 <= end; f += 4) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i) parts[i] = term(f + i, parts[i]);
    }
    for (; f < end; ++f) parts[f % 4] = term(f, parts[f % 4]);
    total = add(total, add(add(parts[0], parts[1]), add(parts[2], parts[3])));
  }
  return total;
}

void normalize_rows(const NormalizeRows& work) {
  const D d;
  const V count = number(static_cast<float>(work.features));
  for (int v = 0; v < kPack; v += kWidth) {
    const float* src = work.src + v;
    const auto at = [&](std::size_t f) HWY_ATTR { return hn::LoadU(d, src + f * kPack); };
    const V mean =
        div(sum_over_features(work.features, [&](std::size_t f, V sum)
                                                 HWY_ATTR { return add(sum, at(f)); }),
            count);
    const V squares =
        sum_over_features(work.features, [&](std::size_t f, V sum) HWY_ATTR {
          const V distance = sub(at(f), mean);
          return mul_add(distance, distance, sum);
        });
    const V variance = add(div(squares, count), number(work.epsilon));
    const V inverse = div(number(1), hn::Sqrt(variance));
    hn::StoreU(mean, d, work.moments->mean + v);
    hn::StoreU(inverse, d, work.moments->inverse + v);
    for (std::size_t f = 0; f < work.features; ++f) {
      const V normal = mul(sub(at(f), mean), inverse);
      hn::StoreU(mul_add(normal, number(work.scale[f]), number(work.shift[f])), d,
                 work.dst + f * kPack + v);
    }
  }
}

void row_norm_gradient(const NormalizeRowsGradient& work) {
  const D d;
  const V count = number(static_cast<float>(work.features));
  for (int v = 0; v < kPack; v += kWidth) {
    const V mean = hn::LoadU(d, work.moments->mean + v);
    const V inverse = hn::LoadU(d, work.moments->inverse + v);
    const auto scaled = [&](std::size_t f) HWY_ATTR {
      return mul(hn::LoadU(d, work.dst_gradient + f * kPack + v), number(work.scale[f]));
    };
    const auto normal = [&](std::size_t f) HWY_ATTR {
      return mul(sub(hn::LoadU(d, work.src + f * kPack + v), mean), inverse);
    };
    const V sum = sum_over_features(work.features, [&](std::size_t f, V part) HWY_ATTR {
      return add(part, scaled(f));
    });
    const V products =
        sum_over_features(work.features, [&](std::size_t f, V part) HWY_ATTR {
          return mul_add(scaled(f), normal(f), part);
        });
    const V constant = div(sum, count), slope = negated(div(products, count));
    for (std::size_t f = 0; f < work.features; ++f) {
      const V gradient = mul_add(slope, normal(f), sub(scaled(f), constant));
      hn::StoreU(mul(gradient, inverse), d, work.src_gradient + f * kPack + v);
    }
  }
}

void add_row_norm_sums(const AddRowNormSums& work) {
  const D d;
  for (int v = 0; v < kPack; v += kWidth) {
    const V mean = hn::LoadU(d, work.moments->mean + v);
    const V inverse = hn::LoadU(d, work.moments->inverse + v);
    for (std::size_t f = 0; f < work.features; ++f) {
      const std::size_t at = f * kPack + static_cast<std::size_t>(v);
      const V gradient = hn::LoadU(d, work.dst_gradient + at);
      const V normal = mul(sub(hn::LoadU(d, work.src + at), mean), inverse);
      hn::StoreU(add(hn::LoadU(d, work.sums + at), gradient), d, work.sums + at);
      hn::StoreU(mul_add(gradient, normal, hn::LoadU(d, work.products + at)), d,
                 work.products + at);
    }
  }
}

const RowNormKernels kRowNorm = {normalize_rows, row_norm_gradient, add_row_norm_sums};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

template <class Term>
float sum_over_features(std::size_t features, const Term& term) {
  float total = 0;
  for (std::size_t first = 0; first < features; first += kFeaturesPerBlock) {
    float parts[4] = {};
    for (std::size_t f = first; f < std::min(features, first + kFeaturesPerBlock); ++f) {
      parts[f % 4] = term(f, parts[f % 4]);
    }
    total += (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
  return total;
}

void normalize_rows(const NormalizeRows& work) {
  const auto count = static_cast<float>(work.features);
  for (std::size_t row = 0; row < kPack; ++row) {
    const auto at = [&](std::size_t f) { return work.src[f * kPack + row]; };
    const float mean =
        sum_over_features(work.features,
                          [&](std::size_t f, float sum) { return sum + at(f); }) /
        count;
    const float squares = sum_over_features(work.features, [&](std::size_t f, float sum) {
      return std::fma(at(f) - mean, at(f) - mean, sum);
    });
    const float inverse = 1.0f / std::sqrt(squares / count + work.epsilon);
    work.moments->mean[row] = mean;
    work.moments->inverse[row] = inverse;
    for (std::size_t f = 0; f < work.features; ++f) {
      work.dst[f * kPack + row] =
          std::fma((at(f) - mean) * inverse, work.scale[f], work.shift[f]);
    }
  }
}

void row_norm_gradient(const NormalizeRowsGradient& work) {
  const auto count = static_cast<float>(work.features);
  for (std::size_t row = 0; row < kPack; ++row) {
    const float mean = work.moments->mean[row], inverse = work.moments->inverse[row];
    const auto scaled = [&](std::size_t f) {
      return work.dst_gradient[f * kPack + row] * work.scale[f];
    };
    const auto normal = [&](std::size_t f) {
      return (work.src[f * kPack + row] - mean) * inverse;
    };
    const float sum = sum_over_features(
        work.features, [&](std::size_t f, float part) { return part + scaled(f); });
    const float products = sum_over_features(
        work.features,
        [&](std::size_t f, float part) { return std::fma(scaled(f), normal(f), part); });
    for (std::size_t f = 0; f < work.features; ++f) {
      work.src_gradient[f * kPack + row] =
          std::fma(-(products / count), normal(f), scaled(f) - sum / count) * inverse;
    }
  }
}

void add_row_norm_sums(const AddRowNormSums& work) {
  for (std::size_t i = 0; i < work.features * kPack; ++i) {
    const std::size_t row = i % kPack;
    const float normal =
        (work.src[i] - work.moments->mean[row]) * work.moments->inverse[row];
    work.sums[i] += work.dst_gradient[i];
    work.products[i] = std::fma(work.dst_gradient[i], normal, work.products[i]);
  }
}

}  // namespace

const RowNormKernels kRowNorm = {normalize_rows, row_norm_gradient, add_row_norm_sums};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(RowNormKernels, row_norm_kernels, kRowNorm)
#endif
