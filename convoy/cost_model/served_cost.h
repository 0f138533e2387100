// SPDX-License-Identifier: Apache-2.0
//
// The time of steps with parameter servers. Workers are on the cluster's machines, each
// server on a machine of its own; with a single machine, everything is on it.

#pragma once

#include "convoy/cost_model/step_cost.h"

namespace convoy {

/// `compute` is the seconds that a worker computes for its part of a batch.
StepCost ps_sync_cost(const CostProfile& profile, const CostedJob& job, double compute);

/// Steps of all workers, each at its own pace, from a simulation of a few rounds: `step`
/// is the time of one worker's batch, in which all workers together make `updates`
/// updates.
StepCost ps_async_cost(const CostProfile& profile, const CostedJob& job, double compute);

}  // namespace convoy
