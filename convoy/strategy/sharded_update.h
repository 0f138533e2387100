// SPDX-License-Identifier: Apache-2.0
//
// ShardedUpdate: every rank updates the part of the values that it owns, from its part of
// the gradients. Clipping takes one small all-gather: an owner adds up complete chunks. A
// scaled loss takes another one, of whether each rank's gradients are finite.

#pragma once

#include <vector>

#include "convoy/optimizer/optimizer_step.h"
#include "convoy/params/shard_plan.h"
#include "convoy/strategy/peers.h"

namespace convoy {

class ShardedUpdate {
 public:
  /// Borrows what step and peers borrow for as long as it lives. Requires: the plan's
  /// granules are the chunks of ClipNorm.
  ShardedUpdate(const OptimizerStep& step, const Peers& peers, const ShardPlan& plan);

  /// Releases the optimizer's state of other ranks' parts.
  void keep_own_state(const ShardPlan& plan);

  /// Computes the scale of the gradients, with all ranks, and decides whether they are
  /// used. Throws PeerError.
  void agree_on(const FlatBuffer& gradients);

  /// Updates the own part, if gradients are used.
  void update(FlatBuffer& values, const FlatBuffer& gradients) const;

 private:
  void exchange_norm(const FlatBuffer& gradients, double times);
  bool are_finite(const FlatBuffer& gradients);

  OptimizerStep step_;
  Peers peers_;
  std::vector<Range> own_, own_chunks_;
  std::vector<int> owners_;        // of the chunks
  std::vector<double> all_sums_;   // [rank][chunk]
  std::vector<std::byte> finite_;  // by rank
  float scale_ = 1;
  bool is_used_ = true;
};

}  // namespace convoy
