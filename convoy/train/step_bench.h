// SPDX-License-Identifier: Apache-2.0
//
// StepBench: how long a training step takes, on made-up images already in memory.
//
// A step is forward, backward and update, as in training; loading is left out. The FMA
// probe before and after tells how fast the machine was just then.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoy/network/network.h"
#include "convoy/train/settings.h"

namespace convoy {

struct StepBenchOptions {
  double seconds = 2;           // how long to measure, at least
  std::size_t least_steps = 5;  // even if it takes longer
  int image = 0;                // height and width; 0: the model's usual
};

struct StepBenchResult {
  std::string model, kernels;
  int batch_size = 0, threads = 0, lanes = 0;
  std::size_t steps = 0;
  double p50_ms = 0, p90_ms = 0, min_ms = 0;
  double images_per_second = 0;  // at the median
  double probe_before_gflops = 0, probe_after_gflops = 0;
  std::size_t arena_bytes = 0, peak_bytes = 0;  // of activations; of the whole process
  std::vector<StageReport> stages{};            // seconds of one step, on average
};

/// Throws InputError if the model cannot be made.
StepBenchResult bench_step(const Settings& settings, const StepBenchOptions& options);

}  // namespace convoy
