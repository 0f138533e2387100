// SPDX-License-Identifier: Apache-2.0
//
// What one rank keeps in memory with fsdp, computed from the layout alone.

#pragma once

#include <cstddef>

#include "convoy/params/layout.h"
#include "convoy/params/shard_plan.h"

namespace convoy {

/// What is divided over the ranks: the optimizer's state; gradients as well; values as
/// well. In other words ZeRO 1, 2 and 3.
enum class FsdpShard { optimizer, gradients, all };

struct FsdpOptions {
  FsdpShard shard = FsdpShard::all;
  bool reshard_after_forward = true;  // release values after forward, gather them again
  bool prefetch = true;               // gather the next unit while one is computed
};

/// How a layout is divided over ranks: in complete chunks of the gradient's norm.
ShardPlan fsdp_shards(const Layout& layout, int ranks);

/// Bytes of the rank that has most.
struct FsdpMemory {
  std::size_t values = 0;     // own part, or all
  std::size_t gathered = 0;   // values of other ranks' parts, while units are computed
  std::size_t gradients = 0;  // own part of the sum, and of sums of earlier micro-batches
  std::size_t passing = 0;    // other ranks' parts of gradients, until they are sent
  std::size_t slot = 0;       // of each slot of the optimizer
  std::size_t average = 0;    // of averaged values, if there are any

  std::size_t total(std::size_t slots, bool averages) const {
    return values + gathered + gradients + passing + slots * slot +
           (averages ? average : 0);
  }
};

/// For a batch of `microbatches`, over all ranks. With FsdpShard::optimizer a rank has
/// whole gradients, as with ddp: `gradients` is one buffer of them, of which
/// Microbatches::gradient_bytes() says how many there are.
FsdpMemory fsdp_memory(const Layout& layout, int ranks, std::size_t microbatches,
                       const FsdpOptions& options);

/// Numbers of the buffers in which an owner keeps sums of complete sub-trees from one
/// round of micro-batches to the next: bit l is set if one of 2^l micro-batches is
/// needed.
std::size_t kept_levels(std::size_t microbatches, int ranks);

}  // namespace convoy
