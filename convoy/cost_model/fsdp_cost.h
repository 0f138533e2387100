// SPDX-License-Identifier: Apache-2.0
//
// The time of a step with fsdp: values are gathered unit by unit, gradients are summed as
// backward goes, in every pass.

#pragma once

#include "convoy/cost_model/step_cost.h"

namespace convoy {

StepCost fsdp_cost(const CostProfile& profile, const CostedJob& job);

}  // namespace convoy
