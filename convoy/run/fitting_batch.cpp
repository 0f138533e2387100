// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/fitting_batch.h"

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/fit/largest_batch.h"
#include "convoy/setup/workload.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

/// 0 if none fits.
int batch_that_fits(Settings settings, const JobPlacement& placement) {
  if (settings.cluster.threads == 0) {
    settings.cluster.threads = std::max(1, cpu_info().cores / placement.local_ranks);
  }
  const Workload work = load_workload(settings);
  MemoryPlanner planner(work);
  const bool recomputes = settings.train.recompute != RecomputeChoice::none;
  return largest_batch(planner, settings, job_shape(settings, placement),
                       recomputes ? kAllUnits : 0, memory_limit(settings).bytes,
                       static_cast<int>(work.samples.train.size()));
}

Settings with_batch(const Settings& settings, int batch) {
  if (batch == 0) {
    throw InputError(InputKind::settings,
                     {.where = "train.batch_size",
                      .found = "max, but not even the smallest batch fits into memory",
                      .expected = "memory for one sample per micro-batch",
                      .hint = "convoy fit prints what fits, by strategy"});
  }
  Settings fitting = settings;
  fitting.train.batch_size = batch;
  return fitting;
}

}  // namespace

JobShape job_shape(const Settings& settings, const JobPlacement& placement) {
  const int ranks = placement.servers > 0 ? placement.workers() : placement.ranks;
  return {.strategy = strategy_name(settings, ranks),
          .ranks = ranks,
          .servers = placement.servers,
          .local_ranks = std::max(1, placement.local_ranks - placement.local_servers()),
          .node = placement.node};
}

Settings with_fitting_batch(const Settings& settings, const JobPlacement& placement) {
  if (settings.train.batch_size > 0 || !placement.one_machine()) return settings;
  return with_batch(settings, batch_that_fits(settings, placement));
}

Settings with_agreed_batch(const Settings& settings, const JobPlacement& placement,
                           Comm& comm) {
  if (settings.train.batch_size > 0) return settings;
  const int own = batch_that_fits(settings, placement);
  std::vector<int> all(static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)),
                  std::as_writable_bytes(std::span(all)));
  return with_batch(settings, std::ranges::min(all));
}

void refuse_unknown_batch(const Settings& settings) {
  if (settings.train.batch_size > 0) return;
  throw InputError(InputKind::settings,
                   {.where = "train.batch_size",
                    .found = "max, with parameter servers on several machines",
                    .expected = "a number",
                    .hint = "convoy fit prints the largest that fits"});
}

}  // namespace convoy
