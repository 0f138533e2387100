// SPDX-License-Identifier: Apache-2.0
//
// Local response normalisation of one pack: numbers are divided by a power of the squares
// of neighbouring channels.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// The channels around one that count, and d = k + scale * (sum of their squares).
struct LocalResponseWindow {
  std::size_t before, after;
  float scale, k, beta;
};

/// dst = src * d^-beta, for [channels][pixels][16] whose channels are `channel_stride`
/// floats apart.
struct LocalResponse {
  const float* src;
  std::size_t channels, channel_stride, pixels;
  LocalResponseWindow window;
  float* dst;
};

struct LocalResponseGradient {
  const float* src;
  const float* dst_gradient;
  std::size_t channels, channel_stride, pixels;
  LocalResponseWindow window;
  float* terms;  // [channels][pixels][16]: scratch
  float* src_gradient;
};

struct LocalResponseKernels {
  void (*normalize)(const LocalResponse&);
  void (*gradient)(const LocalResponseGradient&);
};

const LocalResponseKernels& local_response_kernels(KernelSet set);

}  // namespace convoy
