// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: a row of outputs, and the gradient of the weights.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// One row of a convolution's output, for one pack:
///
///   dst[k][x] = max(clamp_min, bias[k] + sum over c, r, s of
///               weights[k][c][r][s] *
///               src[c][top + r * dilation_high][left + x * stride + s * dilation_wide])
///
/// Taps that fall outside the source count as zero.
struct ConvolutionRow {
  const float* src;  // [src_channels][src_height][src_width][16]
  int src_channels, src_height, src_width;
  int taps_high, taps_wide;
  const float* weights;  // in tiles of output channels; depth is [c][r][s]
  const float* bias;     // nullptr counts as zeros
  float clamp_min;       // 0 makes it a ReLU; minus infinity does nothing
  int top, left, stride;
  float* dst;
  int dst_channels, columns;
  std::size_t dst_channel, dst_column;  // strides of dst
  int dilation_high = 1, dilation_wide = 1;
};

/// Gradient of a convolution's weights from one pack:
///
///   gradient[k][c][r][s] = sum over y, x, images of dst_gradient[k][y][x] *
///                          src[c][y * stride_high + r * dilation_high]
///                             [x * stride_wide + s * dilation_wide]
struct ConvolutionWeights {
  const float* src;  // [src_channels][src_height][src_width][16], padding included
  int src_channels, src_height, src_width;
  int taps_high, taps_wide, stride_high, stride_wide;
  const float* dst_gradient;  // [dst_channels][dst_height][dst_width][16]
  int dst_channels, dst_height, dst_width;
  float* gradient;  // [dst_channels][src_channels][taps_high][taps_wide]
  int dilation_high = 1, dilation_wide = 1;
};

struct ConvolutionKernels {
  void (*row)(const ConvolutionRow&);
  void (*weights)(const ConvolutionWeights&);
};

const ConvolutionKernels& convolution_kernels(KernelSet set);

}  // namespace convoy
