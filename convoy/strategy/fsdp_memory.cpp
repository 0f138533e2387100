// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/fsdp_memory.h"

#include <algorithm>
#include <bit>

#include "convoy/optimizer/param_groups.h"

namespace convoy {
namespace {

std::size_t bytes_of(std::span<const Range> ranges) {
  std::size_t size = 0;
  for (const Range& range : ranges) size += range.size();
  return size * sizeof(float);
}

/// The largest number of elements of `units` adjacent units that others own.
std::size_t others_in(const Layout& layout, const ShardPlan& plan, int rank,
                      std::size_t units) {
  std::size_t most = 0;
  for (std::size_t first = 0; first < plan.unit_count(); ++first) {
    std::size_t others = 0;
    for (std::size_t u = first; u < std::min(first + units, plan.unit_count()); ++u) {
      others += layout.unit(UnitId{u}).size() - plan.part(UnitId{u}, rank).size();
    }
    most = std::max(most, others);
  }
  return most * sizeof(float);
}

std::size_t trained_bytes(const Layout& layout, const ShardPlan& plan, int rank) {
  std::size_t bytes = 0;
  for (const Range& range : plan.ranges_of(rank)) {
    bytes += bytes_of(layout.trained_in(range));
  }
  return bytes;
}

FsdpMemory memory_of(const Layout& layout, const ShardPlan& plan, int rank,
                     std::size_t microbatches, const FsdpOptions& options) {
  const std::size_t whole = layout.size() * sizeof(float);
  const std::size_t own = plan.size_of(rank) * sizeof(float);
  const std::size_t trained = trained_bytes(layout, plan, rank);
  FsdpMemory memory{.values = whole,
                    .gradients = layout.trained_size() * sizeof(float),
                    .slot = trained,
                    .average = whole};
  if (options.shard == FsdpShard::optimizer) return memory;
  const auto kept =
      static_cast<std::size_t>(std::popcount(kept_levels(microbatches, plan.ranks())));
  memory.gradients = (1 + kept) * trained;
  memory.passing = others_in(layout, plan, rank, 2);
  if (options.shard == FsdpShard::gradients) return memory;
  memory.values = memory.average = own;
  memory.gathered = options.reshard_after_forward
                        ? others_in(layout, plan, rank, options.prefetch ? 2 : 1)
                        : whole - own;
  return memory;
}

}  // namespace

ShardPlan fsdp_shards(const Layout& layout, int ranks) {
  return {layout, ranks, kOptimizerChunk};
}

std::size_t kept_levels(std::size_t microbatches, int ranks) {
  std::size_t levels = 0;
  const auto round = static_cast<std::size_t>(ranks);
  for (std::size_t done = round; done < microbatches; done += round) levels |= done;
  return levels;
}

FsdpMemory fsdp_memory(const Layout& layout, int ranks, std::size_t microbatches,
                       const FsdpOptions& options) {
  const ShardPlan plan = fsdp_shards(layout, ranks);
  FsdpMemory most;
  for (int rank = 0; rank < ranks; ++rank) {
    const FsdpMemory own = memory_of(layout, plan, rank, microbatches, options);
    if (own.total(2, false) > most.total(2, false)) most = own;
  }
  return most;
}

}  // namespace convoy
