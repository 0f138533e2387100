// SPDX-License-Identifier: Apache-2.0
//
// GatherScatter: after backward, tensor by tensor, rank 0 gathers everyone's partial
// sums, adds them and gives each rank the sum; then every rank updates its values.

#pragma once

#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

/// Adds up what all ranks have of one tensor after the other, through rank 0.
class GatherScatterSum {
 public:
  /// For tensors of at most `largest` numbers, of which this rank has so many partial
  /// sums. Borrows what peers does for as long as it lives.
  GatherScatterSum(const Peers& peers, std::size_t partials, std::size_t largest);

  /// Together with all ranks. Throws PeerError.
  void add_up(const ReduceRange& piece);

 private:
  void gather(const ReduceRange& piece);
  std::span<const float> in_a_row(const ReduceRange& piece);
  void add(const ReduceRange& piece);
  void scatter(const ReduceRange& piece);

  Peers peers_;
  std::vector<float> own_;                  // several partials, one after the other
  std::vector<float> all_;                  // on rank 0, of everyone
  std::vector<const float*> all_partials_;  // where they begin in it
  std::vector<std::size_t> sizes_;          // by rank, in bytes, of the piece at hand
};

class GatherScatter final : public Strategy {
 public:
  /// Borrows what replica and peers do for as long as it lives.
  GatherScatter(const Replica& replica, const Peers& peers);

  void step() override;

 private:
  Replica replica_;
  Peers peers_;
  std::vector<ReduceRange> pieces_;
  GatherScatterSum sum_;
};

}  // namespace convoy
