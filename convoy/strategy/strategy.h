// SPDX-License-Identifier: Apache-2.0
//
// Strategy: how the ranks agree on one update. It listens to the passes; step() is called
// once per batch.

#pragma once

#include "convoy/base/clock.h"
#include "convoy/params/pass_listener.h"
#include "convoy/params/shard_plan.h"

namespace convoy {

class Strategy : public PassListener {
 public:
  /// Called once, on all ranks, before the first pass.
  virtual void begin() {}

  /// Computes new values, on all ranks or each on its owner, from the gradients of the
  /// passes since the last step. Afterwards the batch statistics are the sum over all
  /// ranks. Throws PeerError.
  virtual void step() = 0;

  /// What is divided over the ranks between two steps, borrowed from the strategy.
  virtual Sharding sharding() { return {}; }

  /// The total time that the strategy has waited for other ranks.
  double seconds_exposed() const { return seconds_exposed_; }

 protected:
  /// Runs `exchange` and counts its time as waited.
  template <class Exchange>
  void timed_exchange(const Exchange& exchange) {
    const Stopwatch watch;
    exchange();
    seconds_exposed_ += watch.seconds();
  }

 private:
  double seconds_exposed_ = 0;
};

}  // namespace convoy
