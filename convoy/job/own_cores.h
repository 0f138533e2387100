// SPDX-License-Identifier: Apache-2.0
//
// The cores of a rank: its share of its node's cores, or those that its launcher
// assigned.

#pragma once

#include "convoy/job/cores.h"
#include "convoy/job/job_placement.h"

namespace convoy {

/// Returns the share of the rank with that local rank; empty: any cores. Ranks that
/// compute share all cores. A parameter server waits most of the time, so it gets no
/// share.
Cores cores_for(const JobPlacement& node, int local_rank, const Cores& cores);

/// Returns the number of threads: one per core of the share; a server gets one.
int threads_for(const JobPlacement& node, int local_rank, const Cores& cores);

/// Returns the number of threads of this rank. Pins it to its share if `pin`, there are
/// several ranks on this node, and no launcher has pinned it. Call it before other
/// threads exist.
///
/// convoy's launcher has pinned its ranks, srun and mpirun may have: if enough affinity
/// masks of this size fit side by side on the machine, the mask is taken for a share.
/// torchrun pins nothing.
int take_cores(const JobPlacement& placement, const Environment& environment, bool pin);

}  // namespace convoy
