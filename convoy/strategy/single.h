// SPDX-License-Identifier: Apache-2.0
//
// Single: one process, nobody to talk to. step() updates everything.

#pragma once

#include "convoy/optimizer/optimizer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

class Single final : public Strategy {
 public:
  /// Borrows everything; the caller keeps it alive for as long as the strategy.
  Single(FlatBuffer& values, const FlatBuffer& gradients, Optimizer& optimizer)
      : values_(values), gradients_(gradients), optimizer_(optimizer) {}

  void step() override { optimizer_.update({0, values_.size()}, values_, gradients_); }

 private:
  FlatBuffer& values_;
  const FlatBuffer& gradients_;
  Optimizer& optimizer_;
};

}  // namespace convoy
