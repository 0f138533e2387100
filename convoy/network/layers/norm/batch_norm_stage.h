// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation, and what follows it: the sum with a residual, a clamp (ReLU,
// ReLU6), a max pool.

#pragma once

#include <memory>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/stage.h"

namespace convoy {

/// The normalisation, and what the stage includes besides.
struct BatchNormOptions {
  float epsilon;
  float clamp_min = kNoClamp, clamp_max = kNoClampMax;
  bool residual = false;  // the second source
  int pool = 0;           // window and stride of the pool that follows; 0: none

  bool clamps() const { return clamp_min > kNoClamp || clamp_max < kNoClampMax; }
};

/// Requires: with a pool, there is neither residual nor clamp_max.
std::unique_ptr<Stage> make_batch_norm_stage(const StageContext& context,
                                             const BatchNormOptions& options, Shape src);

}  // namespace convoy
