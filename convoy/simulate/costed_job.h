// SPDX-License-Identifier: Apache-2.0
//
// How a batch is divided over the ranks of a cluster, as the settings say: the input of
// the step cost model.

#pragma once

#include "convoy/comm/reduction_order.h"
#include "convoy/cost_model/step_cost.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// For micro-batches of at most that many samples each.
CostedJob costed_job(const Settings& settings, const Cluster& cluster,
                     const ReductionOrder& order, std::size_t samples);

}  // namespace convoy
