// SPDX-License-Identifier: Apache-2.0
//
// What a model costs on this machine, measured: the CostProfile that predictions need.

#pragma once

#include <functional>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct MeasuredProfileOptions {
  int ranks = 1;                       // processes of this machine, at once
  int threads = 1;                     // of each
  int cores = 1;                       // of the machine
  std::vector<std::size_t> samples{};  // of a pass, each to be measured, ascending
  double seconds = 2;                  // how long to measure each
  /// In the process of each rank, first: keeps it on its cores.
  std::function<void(int rank, int ranks)> on_begin = nullptr;
};

/// Starts processes; requires that this one has no other threads. Throws InputError if
/// the model cannot be made, PeerError if a process dies.
CostProfile measure_profile(const Settings& settings,
                            const MeasuredProfileOptions& options);

}  // namespace convoy
