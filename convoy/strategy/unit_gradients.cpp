// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/unit_gradients.h"

#include <algorithm>

namespace convoy {
namespace {

/// What of a range belongs to no segment.
std::vector<Range> padding_in(const Layout& layout, Range range) {
  std::vector<Range> gaps;
  std::size_t end = range.begin;  // of the segments so far
  for (const Segment& segment : layout.segments()) {
    const Range found = common(segment.range, range);
    if (found.size() == 0) continue;
    if (found.begin > end) gaps.push_back({end, found.begin});
    end = found.end;
  }
  if (end < range.end) gaps.push_back({end, range.end});
  return gaps;
}

}  // namespace

UnitGradients::UnitGradients(const Replica& replica, const Peers& peers,
                             const ShardPlan& plan, PagePool& pool)
    : peers_(peers),
      pool_(pool),
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
    if (is_in_turn_) find_others(layout, unit);
  }
  pending_.reserve(units_.size());
}

void UnitGradients::find_others(const Layout& layout, Unit& unit) {
  bool shared = false;
  for (const Segment& segment : layout.segments()) {
    if (common(segment.range, unit.range).size() > 0) shared |= segment.shared;
  }
  for (const Range& trained : layout.trained_in(unit.range)) {
    for (const Range& side :
         {Range{unit.range.begin, unit.own.begin}, Range{unit.own.end, unit.range.end}}) {
      const Range others = common(trained, side);
      if (others.size() == 0) continue;
      unit.others.push_back(others);
      if (!shared) unit.pooled.push_back(pool_.add(gradients_.view(others)));
      for (const Range& gap : padding_in(layout, others)) unit.padding.push_back(gap);
    }
  }
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
  for (const PagePool::RangeId range : at(unit).pooled) pool_.provide(range);
  if (at(unit).pooled.empty()) return;
  for (const Range& gap : at(unit).padding) {
    std::ranges::fill(gradients_.view(gap), 0.0f);
  }
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
        piece.parts, piece.numbers.dtype);
  }
  if (!unit.pieces.empty()) pending_.push_back(id);
}

/// Waits for what was started, and releases what was sent. Of the last pass, the own part
/// is the sum.
void UnitGradients::finish_pending() {
  for (const UnitId id : pending_) {
    const Unit& unit = at(id);
    peers_.background.wait(unit.sent);
    release_others(unit);
  }
  pending_.clear();
}

void UnitGradients::release_others(const Unit& unit) {
  for (const PagePool::RangeId range : unit.pooled) pool_.collect(range);
  if (!unit.pooled.empty()) return;
  for (const Range& others : unit.others) gradients_.release(others);
}

}  // namespace convoy
