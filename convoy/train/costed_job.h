// SPDX-License-Identifier: Apache-2.0
//
// How a batch lies over the ranks of a cluster, as the settings have it: what the costs
// of a step are asked for.

#pragma once

#include "convoy/comm/sum_order.h"
#include "convoy/sim/step_cost.h"
#include "convoy/train/settings.h"

namespace convoy {

/// Of lanes with at most so many samples each.
CostedJob costed_job(const Settings& settings, const Cluster& cluster,
                     const SumOrder& order, std::size_t samples);

}  // namespace convoy
