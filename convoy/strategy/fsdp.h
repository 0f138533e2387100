// SPDX-License-Identifier: Apache-2.0
//
// Fsdp: values, gradients and the optimizer's state are divided over the ranks.
//
// Every rank owns a part of each unit (params/shard_plan.h). Before a unit is used, its
// values are gathered, and released afterwards (comm/gathered_units.h); as backward goes,
// its gradients are summed, each part on its owner (unit_gradients.h). step() updates the
// own part of the values:
//
//   forward    | 0 | 1 | 2 |              gather 1, 2 meanwhile
//   backward               | 2 | 1 | 0 |  gather 1, 0 and reduce-scatter 2, 1 meanwhile
//   step()                             | wait, norm, update own parts |
//
// Other ranks' parts of values and gradients have memory from one pool.
//
// FsdpShard says how much is divided. If values are not, all ranks gather them after the
// update. With one rank there is nothing to divide.

#pragma once

#include "convoy/comm/gathered_units.h"
#include "convoy/strategy/fsdp_memory.h"
#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/sharded_update.h"
#include "convoy/strategy/strategy.h"
#include "convoy/strategy/unit_gradients.h"

namespace convoy {

class Fsdp final : public Strategy {
 public:
  /// Borrows what replica and peers borrow for as long as it lives.
  Fsdp(const Replica& replica, const Peers& peers, const FsdpOptions& options);

  /// All ranks take the first rank's values and running statistics, and keep their part.
  void begin() override;
  void begin_microbatch(const MicrobatchPass& pass) override;
  void before_forward(UnitId unit) override;
  void after_forward(UnitId unit) override;
  void before_backward(UnitId unit) override;
  void after_backward(UnitId unit) override;
  void step() override;
  Sharding sharding() override;

 private:
  Replica replica_;
  Peers peers_;
  ShardPlan plan_;
  bool divides_values_;
  PagePool pool_;
  GatheredUnits values_;
  UnitGradients gradients_;
  ShardedUpdate update_;
  std::vector<ReduceRange> statistics_;
};

}  // namespace convoy
