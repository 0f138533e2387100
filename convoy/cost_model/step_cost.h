// SPDX-License-Identifier: Apache-2.0
//
// StepCost: the time of a step with each strategy, from a measured profile.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/cost_model/exchange_cost.h"

namespace convoy {

/// What is predicted: how a batch is divided over the ranks of a cluster. Numbers are
/// those of the ranks that have most.
struct CostedJob {
  Cluster cluster;
  std::size_t microbatches = 1;     // of a rank
  std::size_t samples = 1;          // of a micro-batch
  std::uint64_t partials = 1;       // of a rank
  std::size_t batch = 1;            // samples of a whole batch
  std::uint64_t bucket_bytes = 0;   // of ddp
  std::uint64_t message_bytes = 0;  // of a rank in the small exchange of a step
  int servers = 1;                  // of the parameter server strategies
};

/// Seconds and bytes of one step.
struct StepCost {
  double step = 0;
  double compute = 0;            // forward, backward and update, as if alone
  double exposed = 0;            // what the exchange adds to it
  std::uint64_t sent = 0;        // by rank 0, or by a worker
  std::uint64_t link_bytes = 0;  // one way through the busiest machine's link
  double updates = 1;            // made in it: more than one only of ps_async
};

/// Names of what can be predicted: strategies, and some by another algorithm, as in
/// "ddp/ring".
std::vector<std::string> costed_strategies();

/// Whether convoy has that strategy. What it has not is a prediction only: fsdp, and
/// other algorithms.
bool can_run(std::string_view strategy);

/// `single` is one rank that has the whole batch to itself. Throws InputError if it is
/// none of the names.
StepCost step_cost(std::string_view strategy, const CostProfile& profile,
                   const CostedJob& job);

}  // namespace convoy
