// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer.h"

namespace convoy {

/// What turns gradients into new values. Everything is borrowed.
struct OptimizerStep {
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;  // if gradients are clipped

  /// New values of a range from its gradients. A clip needs a range that is everything.
  void update(Range range, FlatBuffer& values, std::span<const float> gradients) const {
    const float scale = clip == nullptr ? 1.0f : clip->scale(gradients);
    optimizer.update(range, values, {gradients, range.begin, scale});
  }

  /// All new values.
  void update(FlatBuffer& values, const FlatBuffer& gradients) const {
    update({0, values.size()}, values, gradients.numbers());
  }
};

}  // namespace convoy
