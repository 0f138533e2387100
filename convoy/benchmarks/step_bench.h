// SPDX-License-Identifier: Apache-2.0
//
// StepBench: how long a training step takes, on made-up images already in memory.
//
// A step is forward, backward and update, as in training; loading is left out. The FMA
// probe before and after tells how fast the machine was just then, and the bandwidth
// probe how fast its memory was.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoy/benchmarks/stage_bytes.h"
#include "convoy/network/network.h"
#include "convoy/settings/settings.h"
#include "convoy/system/bandwidth_probe.h"

namespace convoy {

struct StepBenchOptions {
  double seconds = 2;           // how long to measure, at least
  std::size_t least_steps = 5;  // even if it takes longer
  int image = 0;                // height and width; 0: the model's usual
  bool bandwidth = false;       // probe it as well
};

struct StepBenchResult {
  std::string model, kernels;
  int batch_size = 0, threads = 0, microbatches = 0;
  std::size_t steps = 0;
  double p50_ms = 0, p90_ms = 0, min_ms = 0;
  double images_per_second = 0;  // at the median
  double effective_gflops = 0;   // a second, at the median: what the plain way computes
  double real_gflops = 0;        // the same: what was computed
  double probe_before_gflops = 0, probe_after_gflops = 0;
  std::string probe_vectors{};                  // of the FMA probe: "AVX2"
  Bandwidth bandwidth{};                        // after the steps, if it was asked for
  std::size_t arena_bytes = 0, peak_bytes = 0;  // of activations; of the whole process
  std::vector<StageReport> stages{};            // seconds of one step, on average
  std::vector<StageBytes> stage_bytes{};        // of one step
};

/// Forward passes' worth of work that a step has for a stage: its gradients take twice
/// its forward pass, those of the first, whose source needs none, once.
inline int passes_of_stage(std::size_t number) { return number == 0 ? 2 : 3; }

/// Throws InputError if the model cannot be made.
StepBenchResult bench_step(const Settings& settings, const StepBenchOptions& options);

}  // namespace convoy
