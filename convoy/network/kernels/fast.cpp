// SPDX-License-Identifier: Apache-2.0
//
// The fast kernels: one source, compiled by Highway for every instruction set that has
// fused multiply-add. Sums are in an order that does not depend on the vector's length
// (sixteen lanes, one per image), so all of them end at the same bits.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/fast.cpp"
// The first two have no fused multiply-add, the third has nothing our kernels could use.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// foreach_target comes first.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

// Highway always compiles for the plainest machine that the compiler may assume as well:
// there the reference is used instead.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr KernelSet kSet = KernelSet::avx512;
#elif HWY_TARGET == HWY_AVX2
constexpr KernelSet kSet = KernelSet::avx2;
#else
constexpr KernelSet kSet = KernelSet::neon;
#endif

/// Calls work with `value` (1 .. kMost) as a compile-time constant.
template <int kMost, class Work>
HWY_INLINE void with_constant(int value, const Work& work) {
  if constexpr (kMost > 1) {
    if (value < kMost) return with_constant<kMost - 1>(value, work);
  }
  work(std::integral_constant<int, kMost>());
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();

// The first is what the others are written with.
#include "convoy/network/kernels/arithmetic_inl.h"
#include "convoy/network/kernels/convolution_inl.h"
#include "convoy/network/kernels/dropout_inl.h"
#include "convoy/network/kernels/gelu_inl.h"
#include "convoy/network/kernels/norm_inl.h"
#include "convoy/network/kernels/pool_inl.h"
#include "convoy/network/kernels/product_inl.h"
#include "convoy/network/kernels/winograd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

const Kernels* table() {
  static const Kernels kernels = {
      .set = kSet,
      .name = name_of(kSet),
      .tile = kTile,
      .product = product,
      .rows_to_tile = rows_to_tile,
      .columns_to_tile = columns_to_tile,
      .convolve_row = convolve_row,
      .convolution_weights = convolution_weights,
      .pool_row = pool_row,
      .unpool_row = unpool_row,
      .draw_kept = draw_kept,
      .scale_kept = scale_kept,
      .add_moments = add_moments,
      .scale_shift = scale_shift,
      .add_norm_sums = add_norm_sums,
      .norm_gradient = norm_gradient,
      .source_to_products = source_to_products,
      .gradient_to_products = gradient_to_products,
      .output_from_products = output_from_products,
      .add_source_gradient = add_source_gradient,
      .taps_to_products = taps_to_products,
      .taps_from_products = taps_from_products,
      .add_bias = add_bias,
      .mask_by_sign = mask_by_sign,
      .gelu = gelu,
      .gelu_gradient = gelu_gradient,
      .sum = sum,
  };
  return &kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace convoy {

const Kernels* vector_kernels(KernelSet set) {
  const auto supported = [](std::int64_t target, const Kernels* (*table)()) {
    return (hwy::SupportedTargets() & target) != 0 ? table() : nullptr;
  };
  switch (set) {
#if HWY_TARGETS & HWY_AVX3
    case KernelSet::avx512:
      return supported(HWY_AVX3, N_AVX3::table);
#endif
#if HWY_TARGETS & HWY_AVX2
    case KernelSet::avx2:
      return supported(HWY_AVX2, N_AVX2::table);
#endif
#if HWY_TARGETS & HWY_NEON
    case KernelSet::neon:
      return supported(HWY_NEON, N_NEON::table);
#endif
    default:
      return nullptr;
  }
}

const char* kernel_library() {
  return "Highway " HWY_STR(HWY_MAJOR) "." HWY_STR(HWY_MINOR) "." HWY_STR(HWY_PATCH);
}

}  // namespace convoy
#endif
