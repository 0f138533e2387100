// SPDX-License-Identifier: Apache-2.0
//
// What a process keeps of values, gradients and optimizer state, and what it exchanges
// them through: one function per strategy, computed from the layout alone.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoy/fit/job_shape.h"
#include "convoy/params/microbatch_part.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"

namespace convoy {

/// Bytes.
struct StrategyMemory {
  std::size_t values = 0;
  std::size_t gradients = 0;   // partial sums of micro-batches included
  std::size_t optimizer = 0;   // its slots
  std::size_t averages = 0;    // EMA or SWA
  std::size_t exchange = 0;    // buffers of strategy and transport
  std::size_t checkpoint = 0;  // copies that are written in the background
};

/// What a strategy's memory depends on.
struct StrategyCase {
  const Settings& settings;
  const LaidOutModel& model;
  JobShape job;
  PlannedProcess process;
  MicrobatchPart part;  // that this process computes
};

/// Slots of the optimizer, each as large as what is trained; masters are one of them.
std::size_t optimizer_slots(const Settings& settings);

/// Names of all strategies that can be planned.
std::vector<std::string> planned_strategies();

/// Of the job's strategy. Requires: one of planned_strategies().
StrategyMemory strategy_memory(const StrategyCase& of);

}  // namespace convoy
