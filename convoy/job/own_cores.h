// SPDX-License-Identifier: Apache-2.0
//
// The cores of a rank: its fair share of its node's, and those of one that is already
// running, as its launcher says or that share.

#pragma once

#include "convoy/job/cores.h"
#include "convoy/job/job_placement.h"

namespace convoy {

/// What the rank at that place of its node has of the node's cores; none: any will do.
/// Those who compute share all of them. A parameter server waits most of the time.
Cores cores_for(const JobPlacement& node, int local_rank, const Cores& cores);

/// How many threads it should have: one for each of its cores, and a server one.
int threads_for(const JobPlacement& node, int local_rank, const Cores& cores);

/// How many threads this rank should have; keeps it on cores of its own if `pin`, it is
/// one of several here, and nobody else has bound it. Call it before there are threads.
///
/// convoy's launcher has bound its ranks, srun and mpirun may have: if as many masks as
/// this process has fit side by side on the machine, the mask is taken for a share.
/// torchrun binds nobody.
int take_cores(const JobPlacement& placement, const Environment& environment, bool pin);

}  // namespace convoy
