// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/unit_gradients.h"

#include <algorithm>

namespace convoy {

UnitGradients::UnitGradients(const Replica& replica, const Peers& peers,
                             const ShardPlan& plan)
    : peers_(peers),
      gradients_(replica.gradients.whole()),
      is_in_turn_(peers.order.microbatches_of(0).is_in_turn()) {
  const Layout& layout = replica.layout;
  const std::size_t levels =
      is_in_turn_ ? kept_levels(peers.order.microbatches(), peers.order.ranks()) : 0;
  for (std::size_t l = 0; l < RoundSum::kMostLevels && levels >> l != 0; ++l) {
    FlatBuffer*& level = kept_by_level_.emplace_back(nullptr);
    if ((levels >> l & 1) == 0) continue;
    level = &kept_.emplace_back(layout);
    keep_own_part(plan, peers.comm.rank(), *level);
  }
  for (std::size_t u = 0; u < layout.unit_count(); ++u) {
    const UnitId id{u};
    units_.push_back({layout.unit(id), plan.part(id, peers.comm.rank())});
    Unit& unit = units_.back();
    for (const Range& range : layout.trained_in(unit.range)) {
      unit.pieces.push_back({{replica.gradients, range}, plan.parts_in(id, range)});
      if (!is_in_turn_) continue;
      unit.pieces.back().rounds.emplace(peers.order.microbatches(), peers.order.ranks(),
                                        kept_at(range.begin));
    }
  }
  pending_.reserve(units_.size());
}

/// Returns where the levels that are kept have the numbers from `begin` on.
RoundSum::Kept UnitGradients::kept_at(std::size_t begin) const {
  RoundSum::Kept kept{};
  for (std::size_t l = 0; l < kept_by_level_.size(); ++l) {
    if (kept_by_level_[l] != nullptr) kept[l] = kept_by_level_[l]->data() + begin;
  }
  return kept;
}

void UnitGradients::begin_microbatch(const MicrobatchPass& pass) {
  round_ = is_new_step_ ? 0 : round_ + 1;
  is_new_step_ = is_last_ = pass.is_last;
}

void UnitGradients::before_backward(UnitId unit) {
  if (std::ranges::find(pending_, unit) != pending_.end()) finish_pending();
}

void UnitGradients::after_backward(UnitId id) {
  if (!is_in_turn_ && !is_last_) return;
  if (is_in_turn_) finish_pending();
  Unit& unit = at(id);
  for (Piece& piece : unit.pieces) {
    if (piece.rounds) piece.rounds->set_round(round_);
    const ReductionSum& sum =
        piece.rounds ? static_cast<const ReductionSum&>(*piece.rounds) : peers_.order;
    const Range own = sum.partials_of(peers_.comm.rank());
    unit.sent = peers_.background.start_reduce_scatter(
        sum, std::span(piece.numbers.partials).first(own.size()), piece.numbers.whole,
        piece.parts);
  }
  if (!unit.pieces.empty()) pending_.push_back(id);
}

/// Waits for what was started, and releases what was sent. Of the last pass, the own part
/// is the sum.
void UnitGradients::finish_pending() {
  for (const UnitId id : pending_) {
    const Unit& unit = at(id);
    peers_.background.wait(unit.sent);
    if (!is_in_turn_) continue;
    gradients_.release({unit.range.begin, is_last_ ? unit.own.begin : unit.range.end});
    if (is_last_) gradients_.release({unit.own.end, unit.range.end});
  }
  pending_.clear();
}

}  // namespace convoy
