// SPDX-License-Identifier: Apache-2.0
//
// UnitGradients: sums each unit's gradients over the ranks, every rank the part that it
// owns, while backward continues with the units before.
//
//   backward         | unit 2 | unit 1     | unit 0      |
//   reduce-scatter            | 2          | 1           | 0    |
//   release                                | 2           | 1    |
//
// If micro-batches are dealt in turn, this happens in every pass, and an owner keeps sums
// of complete sub-trees in between (comm/round_sum.h); other ranks' parts are released
// when they are sent. Otherwise it happens in the last pass, with a rank's partial sums,
// and nothing is released.

#pragma once

#include <list>
#include <optional>
#include <vector>

#include "convoy/comm/round_sum.h"
#include "convoy/params/pass_listener.h"
#include "convoy/params/shard_plan.h"
#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/system/page_pool.h"

namespace convoy {

class UnitGradients {
 public:
  /// Borrows what replica and peers borrow, the plan and the pool, for as long as it
  /// lives.
  UnitGradients(const Replica& replica, const Peers& peers, const ShardPlan& plan,
                PagePool& pool);
  ~UnitGradients() { peers_.background.drain(); }
  UnitGradients(const UnitGradients&) = delete;
  UnitGradients& operator=(const UnitGradients&) = delete;

  void begin_microbatch(const MicrobatchPass& pass);
  /// Afterwards the unit's gradients may be written.
  void before_backward(UnitId unit);
  /// Starts to sum the unit's gradients, if they are complete.
  void after_backward(UnitId unit);

  /// Waits until this rank's part of all gradients is the sum over all ranks.
  void finish() { finish_pending(); }

 private:
  /// A trained range of a unit.
  struct Piece {
    ReduceRange numbers;
    std::vector<Range> parts;
    std::optional<RoundSum> rounds{};  // if micro-batches are dealt in turn
  };
  struct Unit {
    Range range, own;
    std::vector<Piece> pieces{};
    AsyncComm::Ticket sent{};  // of the last piece
    // What others own of it: in the pool, unless backward passes of other units write it,
    // too; and what of that no pass writes.
    std::vector<Range> others{};
    std::vector<PagePool::RangeId> pooled{};
    std::vector<Range> padding{};
  };

  Unit& at(UnitId unit) { return units_[static_cast<std::size_t>(unit)]; }
  RoundSum::Kept kept_at(std::size_t begin) const;
  void find_others(const Layout& layout, Unit& unit);
  void release_others(const Unit& unit);
  void finish_pending();

  Peers peers_;
  PagePool& pool_;
  FlatBuffer& gradients_;
  bool is_in_turn_;
  std::list<FlatBuffer> kept_;              // sums of earlier rounds
  std::vector<FlatBuffer*> kept_by_level_;  // nullptr: none of that level
  std::vector<Unit> units_;
  std::vector<UnitId> pending_;  // whose sums were started and not waited for
  std::size_t round_ = 0;
  bool is_new_step_ = true;  // the next pass is the first of a step
  bool is_last_ = true;      // of the step's passes
};

}  // namespace convoy
