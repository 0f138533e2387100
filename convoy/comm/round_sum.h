// SPDX-License-Identifier: Apache-2.0
//
// RoundSum: adds micro-batches that were dealt to the ranks in turn, round by round.
//
//   four ranks, ten micro-batches:   round 0: 0 1 2 3   round 1: 4 5 6 7   round 2: 8 9
//
// In each round a rank has one partial, the gradient of its micro-batch. Those of a round
// are neighbours in the reduction tree, so the owner of a part adds them at once as far
// as they form complete sub-trees, together with what earlier rounds have left. From one
// round to the next it keeps at most one sum per level of the tree:
//
//   after round 0:   (0..3) at level 2
//   after round 1:   (0..7) at level 3
//   after round 2:   (0..7) + (8+9), the sum
//
// That is how a binary counter counts: level l is in use if bit l of the number of
// micro-batches so far is set. The sum has the same bits as ReductionOrder's.

#pragma once

#include <array>
#include <vector>

#include "convoy/comm/reduction_sum.h"

namespace convoy {

class RoundSum final : public ReductionSum {
 public:
  /// Levels that can be kept: enough for 2^31 micro-batches.
  static constexpr std::size_t kMostLevels = 32;

  /// By level, where this rank keeps sums of its part, addressed as the range that is
  /// reduced; only those in kept_levels() are used.
  using Kept = std::array<float*, kMostLevels>;

  /// Requires: micro-batches >= ranks >= 1.
  RoundSum(std::size_t microbatches, int ranks, const Kept& kept);

  /// The reductions that follow are of this round, from 0.
  void set_round(std::size_t round) { first_ = round * static_cast<std::size_t>(ranks_); }

  int ranks() const override { return ranks_; }
  Range partials_of(int rank) const override;
  std::size_t partials() const override;

  /// Only the last round sets `sum`.
  void add_chunk(std::span<const float* const> partials, Range chunk,
                 std::span<float> sum, Dtype dtype) const override;

 private:
  struct Block;

  bool is_last_round() const {
    return first_ + static_cast<std::size_t>(ranks_) >= microbatches_;
  }
  void add_block(std::span<const float* const> partials, std::size_t begin,
                 std::size_t at, Block& levels, float* sum) const;

  std::size_t microbatches_;
  int ranks_;
  Kept kept_;
  std::size_t first_ = 0;  // micro-batch of the round
};

/// The levels that are kept from one round to the next: bit l is set if a sum of 2^l
/// micro-batches is.
std::size_t kept_levels(std::size_t microbatches, int ranks);

}  // namespace convoy
