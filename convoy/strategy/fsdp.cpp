// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/fsdp.h"

namespace convoy {

Fsdp::Fsdp(const Replica& replica, const Peers& peers, const FsdpOptions& options)
    : replica_(replica),
      peers_(peers),
      plan_(fsdp_shards(replica.layout, peers.comm.ranks())),
      divides_values_(options.shard == FsdpShard::all && peers.comm.ranks() > 1),
      values_(replica.layout,
              {replica.layout, replica.values, plan_, peers.comm.rank(), Residency::whole,
               divides_values_ ? &pool_ : nullptr},
              peers.background,
              {.reshard_after_forward = options.reshard_after_forward,
               .prefetch = options.prefetch,
               .types = replica.types}),
      gradients_(replica, peers, plan_, pool_),
      update_(replica.step, peers, plan_),
      statistics_(statistics_ranges(replica)) {}

void Fsdp::begin() {
  Comm& comm = peers_.idle_comm();
  const std::span<float> statistics =
      replica_.statistics.view({0, replica_.statistics.size()});
  comm.broadcast(std::as_writable_bytes(statistics), /*root=*/0);
  for (FlatBuffer* numbers : first_numbers(replica_)) {
    for (std::size_t unit = 0; unit < plan_.unit_count(); ++unit) {
      const std::span<float> values = numbers->view(replica_.layout.unit(UnitId{unit}));
      comm.broadcast(std::as_writable_bytes(values), /*root=*/0);
    }
  }
  if (divides_values_) values_.release_all();
  update_.keep_own_state(plan_);
}

void Fsdp::begin_microbatch(const MicrobatchPass& pass) {
  values_.begin_microbatch(pass);
  gradients_.begin_microbatch(pass);
}

void Fsdp::before_forward(UnitId unit) {
  timed_exchange([&] { values_.before_forward(unit); });
}

void Fsdp::after_forward(UnitId unit) {
  if (divides_values_) values_.after_forward(unit);
}

void Fsdp::before_backward(UnitId unit) {
  timed_exchange([&] {
    gradients_.before_backward(unit);
    values_.before_backward(unit);
  });
}

void Fsdp::after_backward(UnitId unit) {
  if (divides_values_) values_.after_backward(unit);
  timed_exchange([&] { gradients_.after_backward(unit); });
}

void Fsdp::step() {
  timed_exchange([&] {
    gradients_.finish();
    Comm& comm = peers_.idle_comm();
    for (const ReduceRange& piece : statistics_) {
      comm.all_reduce(peers_.order, piece.partials, piece.whole);
    }
    update_.agree_on(replica_.gradients.whole());
  });
  if (divides_values_) values_.release_all();
  update_.update(replica_.values, replica_.gradients.whole());
  if (!divides_values_) timed_exchange([&] { values_.gather_all(); });
}

Sharding Fsdp::sharding() {
  if (plan_.ranks() == 1) return {};
  return {divides_values_ ? &plan_ : nullptr, &plan_, &plan_, &pool_};
}

}  // namespace convoy
