// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/sharded_update.h"

#include <algorithm>

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
      owners_(plan.owners().begin(), plan.owners().end()),
      finite_(static_cast<std::size_t>(plan.ranks())) {
  if (step.clip == nullptr) return;
  all_sums_.resize(owners_.size() * static_cast<std::size_t>(plan.ranks()));
}

void ShardedUpdate::keep_own_state(const ShardPlan& plan) {
  for (const OptimizerSlot& slot : step_.optimizer.slots()) {
    keep_own_part(plan, peers_.comm.rank(), slot.numbers);
  }
}

void ShardedUpdate::agree_on(const FlatBuffer& gradients) {
  const double times = step_.scale();
  is_used_ = step_.scaler == nullptr || step_.scaler->take_in(are_finite(gradients));
  scale_ = 1;
  if (is_used_ && step_.clip != nullptr) exchange_norm(gradients, times);
  scale_ *= static_cast<float>(1 / times);
}

/// Whether those of all ranks are.
bool ShardedUpdate::are_finite(const FlatBuffer& gradients) {
  const bool own = std::ranges::all_of(own_, [&](const Range& range) {
    return step_.scaler->all_finite(gradients.view(range));
  });
  const std::byte flag{own};
  peers_.idle_comm().all_gather({&flag, 1}, finite_);
  return std::ranges::find(finite_, std::byte{0}) == finite_.end();
}

void ShardedUpdate::exchange_norm(const FlatBuffer& gradients, double times) {
  const std::span<double> sums = step_.clip->sums();
  for (const Range& chunks : own_chunks_) step_.clip->add_up(chunks, gradients);
  peers_.idle_comm().all_gather(std::as_bytes(sums),
                                std::as_writable_bytes(std::span(all_sums_)));
  for (std::size_t c = 0; c < sums.size(); ++c) {
    sums[c] = all_sums_[static_cast<std::size_t>(owners_[c]) * sums.size() + c];
  }
  scale_ = step_.clip->finish(times);
}

void ShardedUpdate::update(FlatBuffer& values, const FlatBuffer& gradients) const {
  if (!is_used_) return;
  for (const Range& range : own_) {
    step_.optimizer.update(range, values, {gradients, scale_});
  }
}

}  // namespace convoy
