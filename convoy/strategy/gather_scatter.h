// SPDX-License-Identifier: Apache-2.0
//
// GatherScatter: after backward, tensor by tensor, rank 0 gathers all partial sums, adds
// them and sends the sum to each rank; then every rank updates its values.

#pragma once

#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

/// Adds the partial sums of all ranks through rank 0, one tensor after the other.
class GatherScatterSum {
 public:
  /// For tensors of at most `largest` elements, of which this rank has `partials` partial
  /// sums, in this type or in fp32. Borrows what peers borrows for as long as it lives.
  GatherScatterSum(const Peers& peers, std::size_t partials, std::size_t largest,
                   Dtype dtype = Dtype::fp32);

  /// Called on all ranks together. Throws PeerError.
  void add_up(const ReduceRange& piece);

 private:
  void gather(const ReduceRange& piece);
  std::span<const std::byte> in_a_row(const ReduceRange& piece);
  void add(const ReduceRange& piece);
  void scatter(const ReduceRange& piece);
  std::span<std::byte> sent(std::size_t bytes) {
    return std::as_writable_bytes(std::span(sent_)).first(bytes);
  }

  Peers peers_;
  std::vector<float> sent_;                 // own partials as they are sent, if copied
  std::vector<float> all_;                  // on rank 0: those of all ranks, as received
  std::vector<float> widened_;              // on rank 0: the same, if they have 16 bits
  std::vector<const float*> all_partials_;  // where they begin
  std::vector<std::size_t> sizes_;          // by rank, in bytes, of the current range
};

class GatherScatter final : public Strategy {
 public:
  /// Borrows what replica and peers borrow for as long as it lives.
  GatherScatter(const Replica& replica, const Peers& peers);

  void step() override;

 private:
  Replica replica_;
  Peers peers_;
  std::vector<ReduceRange> pieces_;
  GatherScatterSum sum_;
};

}  // namespace convoy
