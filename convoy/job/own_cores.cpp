// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/own_cores.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "convoy/job/placement_sources.h"
#include "convoy/job/rank_variables.h"

namespace convoy {
namespace {

bool is_bound(const JobPlacement& placement, const Cores& cores) {
  const bool may_be = placement.launcher_kind == LauncherKind::slurm ||
                      placement.launcher_kind == LauncherKind::open_mpi;
  const auto wanted = static_cast<long>(cores.size()) * placement.local_ranks;
  return may_be && wanted <= ::sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

Cores cores_for(const JobPlacement& node, int local_rank, const Cores& cores) {
  const int servers = node.local_servers();
  if (local_rank < servers) return {};
  return cores_of(local_rank - servers, node.local_ranks - servers, cores);
}

int threads_for(const JobPlacement& node, int local_rank, const Cores& cores) {
  const int servers = node.local_servers();
  if (local_rank < servers) return 1;
  return threads_of(local_rank - servers, node.local_ranks - servers, cores);
}

int take_cores(const JobPlacement& placement, const Environment& environment, bool pin) {
  const Variables variables(environment);
  if (placement.launcher_kind == LauncherKind::convoy) {
    return std::max(1, variables.number(kThreads).value_or(1));
  }
  const Cores cores = usable_cores();
  if (is_bound(placement, cores)) return static_cast<int>(cores.size());
  const int threads = threads_for(placement, placement.local_rank, cores);
  if (pin) pin_to(cores_for(placement, placement.local_rank, cores));
  return threads;
}

}  // namespace convoy
