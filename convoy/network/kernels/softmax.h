// SPDX-License-Identifier: Apache-2.0
//
// Softmax of sixteen rows at once: what attention computes of its scores, which are laid
// out as [column][16 rows].

#pragma once

#include <cstddef>
#include <cstdint>

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
  bool masked = false;  // a row that is minus infinity throughout becomes zeros
};

/// values become scale * values + bias, and minus infinity where a row does not see a
/// column.
struct BiasScores {
  float* values;  // [columns][16]
  std::size_t columns;
  float scale;
  const float* bias;          // [columns][16]; nullptr counts as zeros
  const std::uint16_t* seen;  // by column, one bit per row; nullptr: all are seen
};

/// gradient becomes scale * p * (gradient - sum over columns of p * gradient).
struct SoftmaxGradient {
  const float* probabilities;  // [columns][16]
  float* gradient;             // of the probabilities, then of the unscaled values
  std::size_t columns;
  float scale;
  float* bias_gradient = nullptr;  // if it is wanted: that without the scale is added
};

struct SoftmaxKernels {
  void (*softmax)(const Softmax&);
  void (*gradient)(const SoftmaxGradient&);
  void (*bias_scores)(const BiasScores&);
};

const SoftmaxKernels& softmax_kernels(KernelSet set);

}  // namespace convoy
