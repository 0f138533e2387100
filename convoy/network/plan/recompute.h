// SPDX-License-Identifier: Apache-2.0
//
// Recompute: which results are computed a second time in backward instead of kept.
//
//   forward   a0 -> [s0] -> a1 -> [s1] -> a2 -> [s2] -> a3 ...     one unit: s0, s1, s2
//   kept      a0                                       a3          what other units read
//   backward                    ... [s0] [s1] again, then s2, s1, s0 backward
//
// A second run of a stage has the bits of the first: kernels have one order of sums, and
// random numbers are functions of their place. So what is recomputed changes memory and
// time alone.

#pragma once

#include "convoy/network/plan/network_plan.h"

namespace convoy {

/// Numbers the moments of a step: 0 packs the inputs, then come the stages forward, the
/// loss, and unit by unit from the last, the stages of the unit that run again, first to
/// last, and its stages backward, last to first. Without training there is no backward:
/// nothing lives beyond the forward pass.
void number_moments(NetworkPlan& plan, const NetworkOptions& options);

/// Decides which stages run again and keeps each activation while it is read.
/// Requires: all stages are made, and activations live at the moment of their forward.
void plan_kept_activations(NetworkPlan& plan, const NetworkOptions& options);

}  // namespace convoy
