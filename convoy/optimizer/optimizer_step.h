// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/loss_scaler.h"
#include "convoy/optimizer/optimizer.h"

namespace convoy {

/// Computes new values from gradients. Everything is borrowed.
struct OptimizerStep {
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;      // nullptr: no clipping
  LossScaler* scaler = nullptr;  // nullptr: the loss was not scaled

  /// Updates a range from its gradients, unless they are scaled and not finite. Clipping
  /// and scaling require that the range is the complete layout.
  void update(Range range, FlatBuffer& values, std::span<const float> gradients) const {
    const double times = scale();
    if (scaler != nullptr && !scaler->take_in(scaler->all_finite(gradients))) return;
    update(range, values, gradients, times);
  }

  /// Updates all values.
  void update(FlatBuffer& values, const FlatBuffer& gradients) const {
    update({0, values.size()}, values, gradients.numbers());
  }

  /// Updates a range from gradients that are `times` as large as those of the loss.
  void update(Range range, FlatBuffer& values, std::span<const float> gradients,
              double times) const {
    const float clipped = clip == nullptr ? 1.0f : clip->scale(gradients, times);
    optimizer.update(range, values,
                     {gradients, range.begin, clipped * static_cast<float>(1 / times)});
  }

  /// The loss scale of the step.
  double scale() const { return scaler == nullptr ? 1 : scaler->scale(); }
};

}  // namespace convoy
