// SPDX-License-Identifier: Apache-2.0
//
// StepCost: the time of a step with each strategy, computed from a measured profile.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/cost_model/exchange_cost.h"

namespace convoy {

/// What fsdp divides over the ranks, and when it gathers values.
struct FsdpCosted {
  bool shards_gradients = true, shards_values = true;
  bool reshards = true;    // gathers values again for backward
  bool prefetches = true;  // gathers the next unit while one is computed
};

/// The predicted job: how a batch is divided over the ranks of a cluster. Numbers are
/// those of the ranks that have most.
struct CostedJob {
  Cluster cluster;
  std::size_t microbatches = 1;    // per rank
  std::size_t samples = 1;         // per micro-batch
  std::uint64_t partials = 1;      // per rank
  std::size_t batch = 1;           // samples of the global batch
  std::uint64_t bucket_bytes = 0;  // ddp: size of a bucket
  FsdpCosted fsdp{};
  std::uint64_t message_bytes = 0;  // per rank, in the small all-gather of a step
  int servers = 1;                  // number of parameter servers
};

/// Seconds and bytes of one step.
struct StepCost {
  double step = 0;
  double compute = 0;            // forward, backward and update, without other ranks
  double exposed = 0;            // communication time that computation does not hide
  std::uint64_t sent = 0;        // by rank 0, or by a worker
  std::uint64_t link_bytes = 0;  // one direction, through the busiest machine's link
  double updates = 1;            // updates per step: more than one only with ps_async
};

/// Names of what can be predicted: strategies, and strategies with another all-reduce
/// algorithm, such as "ddp/ring".
std::vector<std::string> costed_strategies();

/// Whether convoy implements that strategy. Other algorithms are only predicted.
bool can_run(std::string_view strategy);

/// `single` is one rank that computes the complete batch. Throws InputError for an
/// unknown name.
StepCost step_cost(std::string_view strategy, const CostProfile& profile,
                   const CostedJob& job);

}  // namespace convoy
