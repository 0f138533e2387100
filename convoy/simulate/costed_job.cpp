// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/costed_job.h"

#include <algorithm>

#include "convoy/setup/workload.h"
#include "convoy/updates/step_all_gather.h"

namespace convoy {

CostedJob costed_job(const Settings& settings, const Cluster& cluster,
                     const ReductionOrder& order, std::size_t samples) {
  const StrategyOptions options = strategy_options(settings);
  const FsdpOptions& fsdp = options.fsdp;
  CostedJob job{.cluster = cluster,
                .microbatches = order.microbatches_of(0).count(),
                .samples = samples,
                .batch = static_cast<std::size_t>(settings.train.batch_size),
                .bucket_bytes = options.bucket_bytes,
                .fsdp = {.shards_gradients = fsdp.shard != FsdpShard::optimizer,
                         .shards_values = fsdp.shard == FsdpShard::all,
                         .reshards = fsdp.reshard_after_forward,
                         .prefetches = fsdp.prefetch},
                .servers = settings.ps.servers};
  job.message_bytes = sizeof(StepReport) + job.microbatches * sizeof(LossSum);
  for (int rank = 0; rank < order.ranks(); ++rank) {
    job.partials = std::max<std::uint64_t>(job.partials, order.partials_of(rank).size());
  }
  return job;
}

}  // namespace convoy
