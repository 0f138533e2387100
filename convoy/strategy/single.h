// SPDX-License-Identifier: Apache-2.0
//
// Single: one process, no communication. step() updates everything.

#pragma once

#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

class Single final : public Strategy {
 public:
  /// Borrows what the replica borrows for as long as it lives.
  explicit Single(const Replica& replica) : replica_(replica) {}

  void step() override { replica_.update(); }

 private:
  Replica replica_;
};

}  // namespace convoy
