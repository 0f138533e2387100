// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/costed_job.h"

#include <algorithm>

#include "convoy/train/agreement.h"
#include "convoy/train/workload.h"

namespace convoy {

CostedJob costed_job(const Settings& settings, const Cluster& cluster,
                     const SumOrder& order, std::size_t samples) {
  CostedJob job{.cluster = cluster,
                .lanes = order.lanes_of(0).size(),
                .samples = samples,
                .batch = static_cast<std::size_t>(settings.train.batch_size),
                .bucket_bytes = chosen_strategy_options(settings).bucket_bytes,
                .servers = settings.ps.servers};
  job.message_bytes = sizeof(StepReport) + job.lanes * sizeof(LossSum);
  for (int rank = 0; rank < order.ranks(); ++rank) {
    job.partials = std::max<std::uint64_t>(job.partials, order.partials_of(rank).size());
  }
  return job;
}

}  // namespace convoy
