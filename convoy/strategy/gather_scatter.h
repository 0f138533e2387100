// SPDX-License-Identifier: Apache-2.0
//
// GatherScatter: after backward, tensor by tensor, rank 0 gathers everyone's partial
// sums, adds them and gives each rank the sum; then every rank updates its values.

#pragma once

#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

class GatherScatter final : public Strategy {
 public:
  /// Borrows what replica and peers do for as long as it lives.
  GatherScatter(const Replica& replica, const Peers& peers);

  void step() override;

 private:
  void gather(const ReduceRange& piece);
  std::span<const float> in_a_row(const ReduceRange& piece);
  void add(const ReduceRange& piece);
  void scatter(const ReduceRange& piece);

  Replica replica_;
  Peers peers_;
  std::vector<ReduceRange> pieces_;
  std::vector<float> own_;                  // several partials, one after the other
  std::vector<float> all_;                  // on rank 0, of everyone
  std::vector<const float*> all_partials_;  // where they begin in it
  std::vector<std::size_t> sizes_;          // by rank, in bytes, of the current range
};

}  // namespace convoy
