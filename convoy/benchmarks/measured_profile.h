// SPDX-License-Identifier: Apache-2.0
//
// measured_profile: measures what a model costs on this machine: the CostProfile that
// predictions need.

#pragma once

#include <functional>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct MeasuredProfileOptions {
  int ranks = 1;                       // processes on this machine, at once
  int threads = 1;                     // per rank
  int cores = 1;                       // of the machine
  std::vector<std::size_t> samples{};  // batch sizes of the passes to measure, ascending
  double seconds = 2;                  // measuring time per batch size
  /// Called first in the process of each rank: pins it to its cores.
  std::function<void(int rank, int ranks)> on_begin = nullptr;
};

/// Starts processes. Requires: this process has no other threads. Throws InputError if
/// the model cannot be built, PeerError if a process dies.
CostProfile measure_profile(const Settings& settings,
                            const MeasuredProfileOptions& options);

}  // namespace convoy
