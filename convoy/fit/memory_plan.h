// SPDX-License-Identifier: Apache-2.0
//
// MemoryPlan: all memory of one process of a training job, known before it starts. A plan
// reserves nothing.
//
//   MemoryPlanner planner(work);
//   planner.process(settings, job, {ProcessKind::rank, 0}, 0).total()

#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "convoy/fit/strategy_memory.h"
#include "convoy/setup/workload.h"

namespace convoy {

struct MemoryPlan {
  StrategyMemory strategy{};
  std::size_t activations = 0;  // the arena of the passes
  std::size_t loader = 0;       // batches that are prepared ahead
  std::size_t data = 0;         // the datasets
  std::size_t evaluation = 0;   // its arena and its loader
  std::size_t process = 0;      // program, libraries, threads

  std::size_t total() const;

  /// All parts by name, the largest groups first.
  std::vector<std::pair<std::string_view, std::size_t>> parts() const;
};

/// Plans processes of jobs that differ in their shape and in some settings: batch size,
/// micro-batches, strategy, recompute and precision.
class MemoryPlanner {
 public:
  /// Borrows the workload for as long as it lives.
  explicit MemoryPlanner(const Workload& work) : work_(work) {}

  /// Throws InputError for settings that the job cannot train with. `recompute_units` is
  /// that of NetworkOptions.
  MemoryPlan process(const Settings& settings, const JobShape& job,
                     const PlannedProcess& process, std::size_t recompute_units);

  /// Of all processes that share the machine.
  std::vector<MemoryPlan> machine(const Settings& settings, const JobShape& job,
                                  std::size_t recompute_units);
  std::size_t machine_total(const Settings& settings, const JobShape& job,
                            std::size_t recompute_units);

 private:
  /// Samples, recomputed units, threads, type of activations, whether there is a backward
  /// pass.
  using ArenaKey = std::tuple<std::size_t, std::size_t, int, Dtype, bool>;

  std::size_t arena_bytes(const Settings& settings, std::size_t samples,
                          std::size_t recompute_units, bool training);
  std::size_t loader_bytes(const Settings& settings, const MicrobatchPart& part) const;
  std::size_t evaluation_bytes(const Settings& settings);

  const Workload& work_;
  std::map<ArenaKey, std::size_t> arenas_;  // that were planned
};

/// What settings say of recompute; `auto` counts as none until it is decided.
std::size_t recompute_units(const Settings& settings);

}  // namespace convoy
