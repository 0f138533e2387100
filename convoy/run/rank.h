// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job with several processes.

#pragma once

#include "convoy/run/job_session.h"
#include "convoy/run/training.h"

namespace convoy {

/// Returns a view that reports the run's folder and every step to the job, which must
/// outlive it.
TrainingView with_job_callbacks(Membership& job, const TrainingView& view);

/// Joins the job and trains.
ExitCode join_and_train(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks, const TrainingView& view);

}  // namespace convoy
