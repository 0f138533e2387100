// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job on several processes.

#pragma once

#include "convoy/run/job_session.h"
#include "convoy/run/training.h"

namespace convoy {

/// The view of a rank whose job is told of the run's folder and of every step. The job
/// has to outlive it.
TrainingView with_job_callbacks(Membership& job, const TrainingView& view);

/// Joins the job and trains.
ExitCode join_and_train(const Settings& settings, const JobPlacement& placement,
                        const TrainingView& view);

}  // namespace convoy
