// SPDX-License-Identifier: Apache-2.0
//
// PassTimes: how long the passes and updates of a rank take while all ranks of a Comm do
// the same. They begin each step together, and a step counts as long as the slowest took.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/cost_model/cost_profile.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct PassTimesOptions {
  int threads = 1;
  std::vector<std::size_t> samples{};  // of a pass, each to be measured, ascending
  double seconds = 2;                  // how long to measure each
};

/// Fills in what a model's computing costs: units, passes, update, rest, sum. The model
/// is made for its usual images.
void measure_passes(const Settings& settings, const PassTimesOptions& options, Comm& comm,
                    CostProfile& profile);

}  // namespace convoy
