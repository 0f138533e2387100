// SPDX-License-Identifier: Apache-2.0
//
// Optimizer: gradients -> new values, over any range of the flat buffer.
//
// An update is elementwise, so ranges may be updated in any order and in parts: a
// strategy that owns a shard updates that shard alone.

#pragma once

#include "convoy/base/range.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  virtual void set_learning_rate(float rate) = 0;

  /// Of the updates to come, as a schedule asks for.
  virtual void set_momentum(float momentum) = 0;

  /// Updates the values in `range` from the gradients there. Each element once a step.
  virtual void update(Range range, FlatBuffer& values, const FlatBuffer& gradients) = 0;
};

}  // namespace convoy
