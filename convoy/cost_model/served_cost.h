// SPDX-License-Identifier: Apache-2.0
//
// The time of steps through a parameter server: workers on the cluster's machines, each
// server on a machine of its own, or all on the one machine that there is.

#pragma once

#include "convoy/cost_model/step_cost.h"

namespace convoy {

/// `compute` is a worker's, of its part of a batch, in seconds.
StepCost ps_sync_cost(const CostProfile& profile, const CostedJob& job, double compute);

/// Steps of all workers, each at its own pace, from a simulation of some rounds: `step`
/// is what a worker's batch takes, in which all of them make `updates`.
StepCost ps_async_cost(const CostProfile& profile, const CostedJob& job, double compute);

}  // namespace convoy
