// SPDX-License-Identifier: Apache-2.0
//
// Single: one process, no communication. step() updates everything.

#pragma once

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

class Single final : public Strategy {
 public:
  /// Borrows everything; the caller keeps it alive for as long as the strategy.
  Single(FlatBuffer& values, const FlatBuffer& gradients, Optimizer& optimizer,
         ClipNorm* clip = nullptr)
      : values_(values), gradients_(gradients), optimizer_(optimizer), clip_(clip) {}

  void step() override { update_all(optimizer_, clip_, values_, gradients_); }

 private:
  FlatBuffer& values_;
  const FlatBuffer& gradients_;
  Optimizer& optimizer_;
  ClipNorm* clip_;  // if any
};

}  // namespace convoy
