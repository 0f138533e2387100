// SPDX-License-Identifier: Apache-2.0
//
// What stages do with their results besides: add a bias or a residual, clamp, mask the
// gradient, sum it.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// A clamp_max that lets every number through, as kNoClamp does below.
inline constexpr float kNoClampMax = -kNoClamp;

/// dst[i][j] = max(clamp_min, dst[i][j] + bias[i]) for rows of kPack numbers.
struct AddBias {
  float* dst;
  const float* bias;
  int rows;
  float clamp_min;  // 0 makes it a ReLU; minus infinity does nothing
};

/// dst = min(clamp_max, max(clamp_min, (scale * src + shift) + residual)).
struct ScaleShift {
  const float* src;
  float scale, shift;
  const float* residual = nullptr;  // counts as zeros
  float clamp_min;                  // as in AddBias
  float clamp_max = kNoClampMax;
  float* dst;
  std::size_t size;     // a multiple of kPack
  bool stream = false;  // past the caches; dst is then aligned as a pack is
};

/// gradient[i] = 0 where activation[i] is not positive.
struct MaskBySign {
  float* gradient;
  const float* activation;
  std::size_t size;
};

/// gradient[i] = 0 where activation[i] is not between both, or equal to one.
struct MaskByRange {
  float* gradient;
  const float* activation;
  std::size_t size;  // a multiple of kPack
  float above, below;
};

struct EpilogueKernels {
  void (*add_bias)(const AddBias&);
  void (*scale_shift)(const ScaleShift&);
  void (*mask_by_sign)(const MaskBySign&);
  void (*mask_by_range)(const MaskByRange&);
  /// The sum of `size` numbers, a multiple of kPack.
  float (*sum)(const float* values, std::size_t size);
};

const EpilogueKernels& epilogue_kernels(KernelSet set);

}  // namespace convoy
