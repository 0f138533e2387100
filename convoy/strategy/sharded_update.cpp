// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/sharded_update.h"

namespace convoy {
namespace {

/// Returns the chunks of one owner, as ranges that do not touch.
std::vector<Range> chunks_of(int rank, std::span<const int> owners) {
  std::vector<Range> chunks;
  for (std::size_t c = 0; c < owners.size(); ++c) {
    if (owners[c] != rank) continue;
    if (chunks.empty() || chunks.back().end != c) chunks.push_back({c, c});
    chunks.back().end = c + 1;
  }
  return chunks;
}

}  // namespace

ShardedUpdate::ShardedUpdate(const OptimizerStep& step, const Peers& peers,
                             const ShardPlan& plan)
    : step_(step),
      peers_(peers),
      own_(plan.ranges_of(peers.comm.rank())),
      own_chunks_(chunks_of(peers.comm.rank(), plan.owners())),
      owners_(plan.owners().begin(), plan.owners().end()) {
  if (step.clip == nullptr) return;
  all_sums_.resize(owners_.size() * static_cast<std::size_t>(plan.ranks()));
}

void ShardedUpdate::keep_own_state(const ShardPlan& plan) {
  for (const OptimizerSlot& slot : step_.optimizer.slots()) {
    keep_own_part(plan, peers_.comm.rank(), slot.numbers);
  }
}

void ShardedUpdate::exchange_norm(const FlatBuffer& gradients) {
  if (step_.clip == nullptr) return;
  const std::span<double> sums = step_.clip->sums();
  for (const Range& chunks : own_chunks_) step_.clip->add_up(chunks, gradients);
  peers_.idle_comm().all_gather(std::as_bytes(sums),
                                std::as_writable_bytes(std::span(all_sums_)));
  for (std::size_t c = 0; c < sums.size(); ++c) {
    sums[c] = all_sums_[static_cast<std::size_t>(owners_[c]) * sums.size() + c];
  }
  scale_ = step_.clip->finish();
}

void ShardedUpdate::update(FlatBuffer& values, const FlatBuffer& gradients) const {
  for (const Range& range : own_) {
    step_.optimizer.update(range, values, {gradients, scale_});
  }
}

}  // namespace convoy
