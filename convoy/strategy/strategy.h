// SPDX-License-Identifier: Apache-2.0
//
// Strategy: how the ranks agree on one update. It hears the passes and is told to step().

#pragma once

#include "convoy/base/clock.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

class Strategy : public PassListener {
 public:
  /// Once, on all ranks, before the first pass.
  virtual void begin() {}

  /// Turns what the passes since the last step gave into new values: the same on all
  /// ranks. The statistics found are their sum over all ranks, then. Throws PeerError.
  virtual void step() = 0;

  /// How long step() has waited for other ranks, in all.
  double seconds_exposed() const { return seconds_exposed_; }

 protected:
  /// Runs `exchange`, whose time counts as waited.
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
