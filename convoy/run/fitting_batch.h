// SPDX-License-Identifier: Apache-2.0
//
// train.batch_size=max: the largest batch that fits, the same on all ranks.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/fit/job_shape.h"
#include "convoy/job/job_placement.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// The processes of a job, as far as memory goes.
JobShape job_shape(const Settings& settings, const JobPlacement& placement);

/// Replaces train.batch_size=max by the largest batch that fits on this machine, if all
/// processes of the job are here; else ranks find it together. Throws InputError if no
/// batch fits.
Settings with_fitting_batch(const Settings& settings, const JobPlacement& placement);

/// The same on a rank of a job on several machines: the least of what fits on each. All
/// ranks call it.
Settings with_agreed_batch(const Settings& settings, const JobPlacement& placement,
                           Comm& comm);

/// Servers and workers on several machines do not agree on a batch. Throws InputError if
/// they had to.
void refuse_unknown_batch(const Settings& settings);

}  // namespace convoy
