// SPDX-License-Identifier: Apache-2.0
//
// The fast kernels: one source, compiled by Highway for several instruction sets; the
// best that the processor has is chosen at run time.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/network/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/fast.cpp"
// Two machines' worth of build time each, and nothing our kernels could use.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// foreach_target comes first.
#include "hwy/cache_control.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kPack>;
using V = hn::Vec<D>;
using IndexTag = hn::Rebind<std::int32_t, D>;
constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kPack / kWidth;  // registers that hold one pixel of a pack

// Rows of a register tile: twelve sums hide the latency of two multiply-add pipes and
// leave room for the operands in sixteen registers.
constexpr int kTile = 12 / kVectors > 0 ? 12 / kVectors : 1;

/// The larger of both; not-a-number in `value` stays.
HWY_INLINE V at_least(V clamp_min, V value) {
  return hn::IfThenElse(hn::Lt(value, clamp_min), clamp_min, value);
}

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

#include "convoy/network/kernels/convolution_inl.h"
#include "convoy/network/kernels/dropout_inl.h"
#include "convoy/network/kernels/gelu_inl.h"
#include "convoy/network/kernels/norm_inl.h"
#include "convoy/network/kernels/pool_inl.h"
#include "convoy/network/kernels/product_inl.h"
#include "convoy/network/kernels/winograd_forms_inl.h"
#include "convoy/network/kernels/winograd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

const Kernels* table() {
  static const Kernels kernels = {
      .name = hwy::TargetName(HWY_TARGET),
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

#if HWY_ONCE
namespace convoy {

HWY_EXPORT(table);

const Kernels& fast_kernels() { return *HWY_DYNAMIC_DISPATCH(table)(); }

const char* kernel_library() {
  return "Highway " HWY_STR(HWY_MAJOR) "." HWY_STR(HWY_MINOR) "." HWY_STR(HWY_PATCH);
}

}  // namespace convoy
#endif
