// SPDX-License-Identifier: Apache-2.0
//
// How a batch lies over the ranks of a cluster, as the settings have it: what the costs
// of a step are asked for.

#pragma once

#include "convoy/comm/reduction_order.h"
#include "convoy/cost_model/step_cost.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Of micro-batches with at most so many samples each.
CostedJob costed_job(const Settings& settings, const Cluster& cluster,
                     const ReductionOrder& order, std::size_t samples);

}  // namespace convoy
