// SPDX-License-Identifier: Apache-2.0
//
// StepBench: measures a training step on synthetic images in memory.
//
// A step is forward, backward and update, as in training; loading is left out. The FMA
// probes before and after it show how fast the machine was at that time, the bandwidth
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
  double seconds = 2;           // minimum measuring time
  std::size_t least_steps = 5;  // even if they take longer
  int image = 0;                // height and width; 0: the model's default
  bool bandwidth = false;       // probe it as well
};

struct StepBenchResult {
  std::string model, kernels;
  int batch_size = 0, threads = 0, microbatches = 0;
  std::size_t steps = 0;
  double p50_ms = 0, p90_ms = 0, min_ms = 0;
  double images_per_second = 0;  // at the median
  double effective_gflops = 0;   // GFLOP/s at the median, counted as direct convolution
  double real_gflops = 0;        // GFLOP/s at the median, as computed
  double probe_before_gflops = 0, probe_after_gflops = 0;
  std::string probe_vectors{};                  // of the FMA probe: "AVX2"
  Bandwidth bandwidth{};                        // after the steps, if it was asked for
  std::size_t arena_bytes = 0, peak_bytes = 0;  // activations; whole process
  std::vector<StageReport> stages{};            // seconds of one step, on average
  std::vector<StageBytes> stage_bytes{};        // of one step
};

/// The work of a stage in a step, in forward passes: its two gradients take one forward
/// pass each; the first stage needs no gradient of its source.
inline int passes_of_stage(std::size_t number) { return number == 0 ? 2 : 3; }

/// Throws InputError if the model cannot be built.
StepBenchResult bench_step(const Settings& settings, const StepBenchOptions& options);

}  // namespace convoy
