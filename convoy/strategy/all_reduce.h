// SPDX-License-Identifier: Apache-2.0
//
// AllReduce: one all-reduce per tensor after backward; then every rank updates its
// values.

#pragma once

#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

class AllReduce final : public Strategy {
 public:
  /// Borrows what replica and peers borrow for as long as it lives.
  AllReduce(const Replica& replica, const Peers& peers)
      : replica_(replica), peers_(peers), pieces_(tensor_ranges(replica)) {}

  void step() override {
    timed_exchange([this] {
      Comm& comm = peers_.idle_comm();
      for (const ReduceRange& piece : pieces_) {
        comm.all_reduce(peers_.order, piece.partials, piece.whole, piece.dtype);
      }
    });
    replica_.update();
  }

 private:
  Replica replica_;
  Peers peers_;
  std::vector<ReduceRange> pieces_;
};

}  // namespace convoy
