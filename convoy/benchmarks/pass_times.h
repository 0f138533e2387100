// SPDX-License-Identifier: Apache-2.0
//
// PassTimes: measures passes and updates of a rank while all ranks of a Comm do the same.
// They begin each step together, and the duration of a step is that of the slowest rank.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/cost_model/cost_profile.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct PassTimesOptions {
  int threads = 1;
  std::vector<std::size_t> samples{};  // batch sizes of the passes to measure, ascending
  double seconds = 2;                  // measuring time per batch size
};

/// Fills in the cost of computing a model: units, passes, update, rest, sum. The model is
/// built for its default image size.
void measure_passes(const Settings& settings, const PassTimesOptions& options, Comm& comm,
                    CostProfile& profile);

}  // namespace convoy
