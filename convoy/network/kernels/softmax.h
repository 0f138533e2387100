// SPDX-License-Identifier: Apache-2.0
//
// Softmax of sixteen rows at once: what attention computes of its scores, which are laid
// out as [column][16 rows].

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// What a softmax over a row divides by: exp(largest) and the sum relative to it.
struct SoftmaxMoments {
  float largest[16];
  float inverse[16];  // 1 / sum of exp(x - largest)
};

/// x becomes exp(x - largest) / sum, with x = scale * values[column][row].
struct Softmax {
  float* values;  // [columns][16]
  std::size_t columns;
  float scale;
  SoftmaxMoments* moments;  // found, or those of an earlier call if they are known
  bool known = false;
};

/// gradient becomes scale * p * (gradient - sum over columns of p * gradient).
struct SoftmaxGradient {
  const float* probabilities;  // [columns][16]
  float* gradient;             // of the probabilities, then of the unscaled values
  std::size_t columns;
  float scale;
};

struct SoftmaxKernels {
  void (*softmax)(const Softmax&);
  void (*gradient)(const SoftmaxGradient&);
};

const SoftmaxKernels& softmax_kernels(KernelSet set);

}  // namespace convoy
