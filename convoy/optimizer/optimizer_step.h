// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer.h"

namespace convoy {

/// Computes new values from gradients. Everything is borrowed.
struct OptimizerStep {
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;  // nullptr: no clipping

  /// Updates a range from its gradients. Clipping requires that the range is the complete
  /// layout.
  void update(Range range, FlatBuffer& values, std::span<const float> gradients) const {
    const float scale = clip == nullptr ? 1.0f : clip->scale(gradients);
    optimizer.update(range, values, {gradients, range.begin, scale});
  }

  /// Updates all values.
  void update(FlatBuffer& values, const FlatBuffer& gradients) const {
    update({0, values.size()}, values, gradients.numbers());
  }
};

}  // namespace convoy
