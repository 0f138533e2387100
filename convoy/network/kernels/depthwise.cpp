// SPDX-License-Identifier: Apache-2.0
//
// Every tap is one fused multiply-add, in the order of taps for an output and in the
// order of pixels for a tap's gradient. Columns whose whole window lies inside the source
// are computed with the taps in registers, where there are at most three by three.

#include "convoy/network/kernels/depthwise.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/depthwise.cpp"
#include "convoy/network/kernels/targets.h"

#ifndef CONVOY_DEPTHWISE_RANGES
#define CONVOY_DEPTHWISE_RANGES
namespace convoy {

/// Numbers [begin, end).
struct Between {
  int begin, end;
};

/// The i < count for which first + i * step is in [0, size).
inline Between inside(int first, int step, int count, int size) {
  // A division takes as long as several taps, and most steps are one.
  const auto steps_to = [&](int distance) {
    if (distance <= 0) return 0;
    return step == 1 ? distance : (distance + step - 1) / step;
  };
  const int end = std::min(count, steps_to(size - first));
  return {std::min(steps_to(-first), end), end};
}

/// Columns whose window lies wholly inside, where it begins at left + x * stride.
inline Between inner_columns(int left, int stride, int columns, int span, int width) {
  const Between inner = inside(left, stride, columns, width - span + 1);
  return inner.begin < inner.end ? inner : Between{columns, columns};
}

}  // namespace convoy
#endif

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// Where the window of a row's column begins, which may be outside.
HWY_INLINE const float* window_at(const DepthwiseRow& row, int r, int x) {
  const std::ptrdiff_t y = row.top + static_cast<std::ptrdiff_t>(r) * row.dilation_high;
  return row.src + (y * row.src_width + row.left + x * row.stride) * kPack;
}

HWY_INLINE void store_pixel(const DepthwiseRow& row, V value, float* dst) {
  if (row.stream) {
    hn::Stream(value, D(), dst);
  } else {
    hn::StoreU(value, D(), dst);
  }
}

/// A column of any window, of which the tap rows [rows.begin, rows.end) are inside.
HWY_INLINE void depthwise_pixel(const DepthwiseRow& row, const Between& rows, int x) {
  const D d;
  const Between columns =
      inside(row.left + x * row.stride, row.dilation_wide, row.taps_wide, row.src_width);
  float* dst = row.dst + x * row.dst_column;
  for (int v = 0; v < kPack; v += kWidth) {
    V sum = row.accumulate ? hn::LoadU(d, dst + v) : number(row.start);
    for (int r = rows.begin; r < rows.end; ++r) {
      const float* src = window_at(row, r, x) + v;
      for (int s = columns.begin; s < columns.end; ++s) {
        const V tap = number(row.taps[r * row.taps_wide + s]);
        sum = mul_add(tap, hn::LoadU(d, src + s * row.dilation_wide * kPack), sum);
      }
    }
    store_pixel(row, sum, dst + v);
  }
}

/// Columns [begin, end), whose windows of kHigh x kWide taps are inside.
template <int kHigh, int kWide>
void depthwise_inner(const DepthwiseRow& row, const Between& rows, const Between& inner) {
  const D d;
  V taps[kHigh][kWide];
  const float* HWY_RESTRICT src[kHigh];
#pragma GCC unroll 4
  for (int r = 0; r < kHigh; ++r) {
    src[r] = window_at(row, rows.begin + r, inner.begin);
#pragma GCC unroll 4
    for (int s = 0; s < kWide; ++s) {
      taps[r][s] = number(row.taps[(rows.begin + r) * row.taps_wide + s]);
    }
  }
  const std::size_t next = static_cast<std::size_t>(row.stride) * kPack;
  const std::size_t across = static_cast<std::size_t>(row.dilation_wide) * kPack;
  float* HWY_RESTRICT dst = row.dst + inner.begin * row.dst_column;
  for (int x = inner.begin; x < inner.end; ++x, dst += row.dst_column) {
#pragma GCC unroll 4
    for (int v = 0; v < kPack; v += kWidth) {
      V sum = row.accumulate ? hn::LoadU(d, dst + v) : number(row.start);
#pragma GCC unroll 4
      for (int r = 0; r < kHigh; ++r) {
#pragma GCC unroll 4
        for (int s = 0; s < kWide; ++s) {
          sum = mul_add(taps[r][s], hn::LoadU(d, src[r] + s * across + v), sum);
        }
      }
      store_pixel(row, sum, dst + v);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kHigh; ++r) src[r] += next;
  }
}

template <int kHigh>
bool depthwise_inner_of(const DepthwiseRow& row, const Between& rows,
                        const Between& inner) {
  if (row.taps_wide > 3) return false;
  if (row.taps_wide == 1) depthwise_inner<kHigh, 1>(row, rows, inner);
  if (row.taps_wide == 2) depthwise_inner<kHigh, 2>(row, rows, inner);
  if (row.taps_wide == 3) depthwise_inner<kHigh, 3>(row, rows, inner);
  return true;
}

/// Whether the columns were computed.
bool depthwise_small(const DepthwiseRow& row, const Between& rows, const Between& inner) {
  const int high = rows.end - rows.begin;
  if (row.taps_wide < 1) return false;
  if (high == 1) return depthwise_inner_of<1>(row, rows, inner);
  if (high == 2) return depthwise_inner_of<2>(row, rows, inner);
  return high == 3 && depthwise_inner_of<3>(row, rows, inner);
}

void depthwise_row(const DepthwiseRow& row) {
  const Between rows = inside(row.top, row.dilation_high, row.taps_high, row.src_height);
  const int span = (row.taps_wide - 1) * row.dilation_wide + 1;
  Between inner = inner_columns(row.left, row.stride, row.columns, span, row.src_width);
  for (int x = 0; x < inner.begin; ++x) depthwise_pixel(row, rows, x);
  if (depthwise_small(row, rows, inner)) inner.begin = inner.end;
  for (int x = inner.begin; x < row.columns; ++x) depthwise_pixel(row, rows, x);
}

/// One row of outputs, and the rows of taps that are inside the source there.
struct TapsRow {
  const DepthwiseTaps& work;
  int y;
  Between rows;

  /// The source under tap (r, s) of column x.
  HWY_INLINE const float* src(int r, int s, int x) const {
    const std::ptrdiff_t from_y =
        y * work.stride_high + r * work.dilation_high - work.top;
    const std::ptrdiff_t from_x =
        x * work.stride_wide + s * work.dilation_wide - work.left;
    return work.src + (from_y * work.src_width + from_x) * kPack;
  }
  HWY_INLINE const float* gradient(int x) const {
    return work.dst_gradient +
           (static_cast<std::ptrdiff_t>(y) * work.dst_width + x) * kPack;
  }
  HWY_INLINE float* sums(int r, int s) const {
    return work.sums + static_cast<std::ptrdiff_t>(r * work.taps_wide + s) * kPack;
  }
};

/// Adds a column of any window.
HWY_INLINE void add_tap_pixel(const TapsRow& row, int x) {
  const D d;
  const DepthwiseTaps& work = row.work;
  const Between columns = inside(x * work.stride_wide - work.left, work.dilation_wide,
                                 work.taps_wide, work.src_width);
  for (int r = row.rows.begin; r < row.rows.end; ++r) {
    for (int s = columns.begin; s < columns.end; ++s) {
      for (int v = 0; v < kPack; v += kWidth) {
        const V factor = hn::LoadU(d, row.gradient(x) + v);
        float* sum = row.sums(r, s) + v;
        hn::Store(mul_add(factor, hn::LoadU(d, row.src(r, s, x) + v), hn::Load(d, sum)),
                  d, sum);
      }
    }
  }
}

/// Adds columns [begin, end), whose windows are inside, to kHigh x kWide taps from (r, s)
/// on.
template <int kHigh, int kWide>
void add_tap_columns(const TapsRow& row, int r, int s, const Between& inner) {
  const D d;
  const DepthwiseTaps& work = row.work;
  const std::size_t next = static_cast<std::size_t>(work.stride_wide) * kPack;
  const std::size_t across = static_cast<std::size_t>(work.dilation_wide) * kPack;
  for (int v = 0; v < kPack; v += kWidth) {
    V sums[kHigh][kWide];
    const float* HWY_RESTRICT src[kHigh];
#pragma GCC unroll 4
    for (int i = 0; i < kHigh; ++i) {
      src[i] = row.src(r + i, s, inner.begin) + v;
#pragma GCC unroll 4
      for (int j = 0; j < kWide; ++j)
        sums[i][j] = hn::Load(d, row.sums(r + i, s + j) + v);
    }
    const float* HWY_RESTRICT gradient = row.gradient(inner.begin) + v;
    for (int x = inner.begin; x < inner.end; ++x, gradient += kPack) {
      const V factor = hn::LoadU(d, gradient);
#pragma GCC unroll 4
      for (int i = 0; i < kHigh; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < kWide; ++j) {
          sums[i][j] = mul_add(factor, hn::LoadU(d, src[i] + j * across), sums[i][j]);
        }
        src[i] += next;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kHigh; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kWide; ++j)
        hn::Store(sums[i][j], d, row.sums(r + i, s + j) + v);
    }
  }
}

template <int kHigh>
void add_tap_rows(const TapsRow& row, int r, const Between& inner) {
  const int wide = row.work.taps_wide;
  int s = 0;
  for (; s + 3 <= wide; s += 3) add_tap_columns<kHigh, 3>(row, r, s, inner);
  if (wide - s == 2) add_tap_columns<kHigh, 2>(row, r, s, inner);
  if (wide - s == 1) add_tap_columns<kHigh, 1>(row, r, s, inner);
}

void add_tap_inner(const TapsRow& row, const Between& inner) {
  int r = row.rows.begin;
  for (; r + 3 <= row.rows.end; r += 3) add_tap_rows<3>(row, r, inner);
  if (row.rows.end - r == 2) add_tap_rows<2>(row, r, inner);
  if (row.rows.end - r == 1) add_tap_rows<1>(row, r, inner);
}

void depthwise_taps(const DepthwiseTaps& work) {
  const int taps = work.taps_high * work.taps_wide;
  if (work.rows.begin == 0) {
    std::fill_n(work.sums, static_cast<std::size_t>(taps) * kPack, 0.0f);
  }
  const int span = (work.taps_wide - 1) * work.dilation_wide + 1;
  const Between inner =
      inner_columns(-work.left, work.stride_wide, work.dst_width, span, work.src_width);
  for (int y = static_cast<int>(work.rows.begin); y < static_cast<int>(work.rows.end);
       ++y) {
    const TapsRow row = {work, y,
                         inside(y * work.stride_high - work.top, work.dilation_high,
                                work.taps_high, work.src_height)};
    for (int x = 0; x < inner.begin; ++x) add_tap_pixel(row, x);
    add_tap_inner(row, inner);
    for (int x = inner.end; x < work.dst_width; ++x) add_tap_pixel(row, x);
  }
  if (work.rows.end < static_cast<std::size_t>(work.dst_height)) return;
  for (int tap = 0; tap < taps; ++tap) {
    work.gradient[tap] = sum_of_lanes(work.sums + static_cast<std::size_t>(tap) * kPack);
  }
}

const DepthwiseKernels kDepthwise = {depthwise_row, depthwise_taps};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

bool is_inside(int y, int x, int height, int width) {
  return y >= 0 && y < height && x >= 0 && x < width;
}

/// One output pixel of one image.
CONVOY_WITH_FMA float depthwise_pixel(const DepthwiseRow& row, int x, int image) {
  float sum = row.accumulate ? row.dst[x * row.dst_column + image] : row.start;
  for (int tap = 0; tap < row.taps_high * row.taps_wide; ++tap) {
    const int y = row.top + tap / row.taps_wide * row.dilation_high;
    const int from = row.left + x * row.stride + tap % row.taps_wide * row.dilation_wide;
    if (!is_inside(y, from, row.src_height, row.src_width)) continue;
    const std::size_t pixel = static_cast<std::size_t>(y) * row.src_width + from;
    sum = std::fma(row.taps[tap], row.src[pixel * kPack + image], sum);
  }
  return sum;
}

void depthwise_row(const DepthwiseRow& row) {
  for (int x = 0; x < row.columns; ++x) {
    for (int image = 0; image < kPack; ++image) {
      row.dst[x * row.dst_column + image] = depthwise_pixel(row, x, image);
    }
  }
}

/// The gradient of one tap from one image, on top of `sum`.
CONVOY_WITH_FMA float depthwise_tap(const DepthwiseTaps& work, int tap, int image,
                                    float sum) {
  const int end = static_cast<int>(work.rows.end) * work.dst_width;
  for (int i = static_cast<int>(work.rows.begin) * work.dst_width; i < end; ++i) {
    const int y = i / work.dst_width * work.stride_high - work.top +
                  tap / work.taps_wide * work.dilation_high;
    const int x = i % work.dst_width * work.stride_wide - work.left +
                  tap % work.taps_wide * work.dilation_wide;
    if (!is_inside(y, x, work.src_height, work.src_width)) continue;
    const std::size_t pixel = static_cast<std::size_t>(y) * work.src_width + x;
    sum = std::fma(work.dst_gradient[i * kPack + image], work.src[pixel * kPack + image],
                   sum);
  }
  return sum;
}

void depthwise_taps(const DepthwiseTaps& work) {
  for (int tap = 0; tap < work.taps_high * work.taps_wide; ++tap) {
    float* sums = work.sums + static_cast<std::size_t>(tap) * kPack;
    Lanes lanes;
    for (int i = 0; i < kPack; ++i) {
      lanes[i] = depthwise_tap(work, tap, i, work.rows.begin == 0 ? 0 : sums[i]);
    }
    std::copy_n(lanes, kPack, sums);
    if (work.rows.end < static_cast<std::size_t>(work.dst_height)) continue;
    work.gradient[tap] = sum_of_lanes(lanes);
  }
}

}  // namespace

const DepthwiseKernels kDepthwise = {depthwise_row, depthwise_taps};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(DepthwiseKernels, depthwise_kernels, kDepthwise)
#endif
