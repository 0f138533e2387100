// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of two activations, of which the second may be smaller: its strides
// are zero where it is broadcast. All operands are [channels][pixels][16].

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// Where element [channel][pixel] of an operand begins.
struct BroadcastStride {
  std::size_t channel, pixel;
};

/// dst[c][p] = a[c][p] + b[c][p], or times.
struct Combine {
  const float* a;
  const float* b;
  BroadcastStride b_stride;
  float* dst;
  std::size_t channels, pixels;
};

/// dst[c][p] = src[c][p] * scale[c].
struct ScaleChannels {
  const float* src;
  const float* scale;  // one number per channel
  float* dst;
  std::size_t channels, pixels;
};

/// sums[c][p] += gradient[c][p] * factor[c][p], channel after channel, pixel after pixel.
struct AddProducts {
  const float* gradient;
  const float* factor;  // nullptr counts as ones
  float* sums;
  BroadcastStride sums_stride;
  std::size_t channels, pixels;
};

struct BroadcastKernels {
  void (*add)(const Combine&);
  void (*multiply)(const Combine&);
  void (*scale_channels)(const ScaleChannels&);
  void (*add_products)(const AddProducts&);
};

const BroadcastKernels& broadcast_kernels(KernelSet set);

}  // namespace convoy
