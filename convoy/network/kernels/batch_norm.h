// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation, a run [n][16] of numbers of one channel at a time.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// For each image i of a run [n][16] of one channel, adds to sums[i] the numbers and to
/// squares[i] the squares, both counted from `around`. Sums of 64 pixels at a time are in
/// single precision, here and in AddNormSums.
struct AddMoments {
  const float* src;
  std::size_t size;  // a multiple of kPack, here and below
  float around;
  double* sums;
  double* squares;
};

/// Gradients count as zero where scale * src + shift is not between both bounds.
struct NormMask {
  float scale, shift, above, below;
};

/// For each image i, adds to sums[i] the gradients, and to products[i] those times
/// (src - mean).
struct AddNormSums {
  const float* gradient;
  const float* src;
  std::size_t size;
  float mean;
  double* sums;
  double* products;
  const NormMask* mask = nullptr;  // nullptr: all of them count
};

/// dst = from_gradient * gradient + (from_source * (src - mean) + constant) for the first
/// `images` of every sixteen, 0 for the others.
struct NormGradient {
  const float* gradient;
  const float* src;
  std::size_t size;
  float mean, from_gradient, from_source, constant;
  int images;
  float* dst;
  const NormMask* mask = nullptr;
  bool stream = false;  // past the caches; dst is then aligned as a pack is
};

struct BatchNormKernels {
  void (*add_moments)(const AddMoments&);
  void (*add_sums)(const AddNormSums&);
  void (*gradient)(const NormGradient&);
};

const BatchNormKernels& batch_norm_kernels(KernelSet set);

}  // namespace convoy
