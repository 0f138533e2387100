// SPDX-License-Identifier: Apache-2.0
//
// The largest batch that fits into memory, and what is recomputed for a batch to fit.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/fit/memory_plan.h"

namespace convoy {

/// Memory that all processes of a job on this machine may have together.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string source;  // "free on this machine", "cluster.memory_gib"
};

/// What settings say or else what is free now, and what this process has already.
MemoryLimit memory_limit(const Settings& settings);

/// Returns the largest train.batch_size with which the machine's processes fit, at most
/// as many samples as an epoch has; 0 if none fits. The plan is made a few times.
int largest_batch(MemoryPlanner& planner, const Settings& settings, const JobShape& job,
                  std::size_t recompute_units, std::uint64_t limit, int most);

/// What a run does about its memory.
struct RunMemory {
  MemoryPlan plan;                  // of this process
  std::size_t recompute_units = 0;  // as in NetworkOptions
  MemoryLimit limit;
};

/// Plans a process of a run: with train.recompute=auto as few units are recomputed as
/// fit. Throws InputError of kind `settings` if the machine's processes do not fit; it
/// says what would.
RunMemory plan_run_memory(const Settings& settings, const Workload& work,
                          const JobShape& job, const PlannedProcess& process);

}  // namespace convoy
