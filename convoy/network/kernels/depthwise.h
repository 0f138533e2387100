// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolutions: one channel of one pack at a time, [height][width][16 images].

#pragma once

#include <cstddef>

#include "convoy/base/range.h"
#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// One row of one output channel:
///
///   dst[x] = start + sum over r, s of taps[r][s] *
///            src[top + r * dilation_high][left + x * stride + s * dilation_wide]
///
/// with x < columns. Taps that fall outside the source count as zero.
struct DepthwiseRow {
  const float* src;
  int src_height, src_width;
  const float* taps;
  int taps_high, taps_wide, dilation_high, dilation_wide;
  float start = 0;
  bool accumulate = false;  // the start is dst instead
  int top, left, stride;
  float* dst;
  int columns;
  std::size_t dst_column;  // from one column to the next
  bool stream = false;     // past the caches; dst is then aligned as a pack is
};

/// The gradient of one channel's taps:
///
///   gradient[r][s] = sum over y, x, images of dst_gradient[y][x] *
///                    src[y * stride_high + r * dilation_high - top]
///                       [x * stride_wide + s * dilation_wide - left]
///
/// where pixels outside the source are left out. Each image has its own sum; they are
/// added at the end, as in kernels.h. Rows of outputs may come in several calls, in their
/// order, and the last one gives the gradient.
struct DepthwiseTaps {
  const float* src;
  int src_height, src_width;
  const float* dst_gradient;
  int dst_height, dst_width;
  int taps_high, taps_wide, dilation_high, dilation_wide;
  int stride_high, stride_wide, top, left;
  float* sums;  // [taps_high][taps_wide][16], aligned
  float* gradient;
  Range rows;  // of outputs: those of this call
};

struct DepthwiseKernels {
  void (*row)(const DepthwiseRow&);
  void (*taps)(const DepthwiseTaps&);
};

const DepthwiseKernels& depthwise_kernels(KernelSet set);

}  // namespace convoy
