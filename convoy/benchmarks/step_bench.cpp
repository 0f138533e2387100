// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/step_bench.h"

#include <algorithm>

#include "convoy/base/clock.h"
#include "convoy/base/random.h"
#include "convoy/models/models.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/system/fma_probe.h"
#include "convoy/system/memory.h"

namespace convoy {
namespace {

constexpr int kWarmUpSteps = 3;
constexpr int kClasses = 10;

struct MadeUpBatch {
  MadeUpBatch(std::size_t count, Shape shape)
      : images(count * shape.size()), labels(count) {
    const RandomStream random(1, RngStream::synthetic);
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = 2 * random.uniform(i) - 1;
    for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<int>(i % kClasses);
  }

  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

/// Returns the seconds per step between two states of the reports.
std::vector<StageReport> seconds_of_one(const std::vector<StageReport>& before,
                                        std::vector<StageReport> after,
                                        std::size_t steps) {
  const auto count = static_cast<double>(steps);
  for (std::size_t i = 0; i < after.size(); ++i) {
    after[i].forward_seconds =
        (after[i].forward_seconds - before[i].forward_seconds) / count;
    after[i].backward_seconds =
        (after[i].backward_seconds - before[i].backward_seconds) / count;
  }
  return after;
}

void summarize(std::vector<double> milliseconds, StepBenchResult& result) {
  std::ranges::sort(milliseconds);
  result.steps = milliseconds.size();
  result.min_ms = milliseconds.front();
  result.p50_ms = milliseconds[milliseconds.size() / 2];
  result.p90_ms = milliseconds[milliseconds.size() * 9 / 10];
  result.images_per_second = result.batch_size / result.p50_ms * 1e3;
}

/// Requires: stages and summary are filled in.
void count_flops(StepBenchResult& result) {
  const double steps_a_second = 1e3 / result.p50_ms;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const double giga = passes_of_stage(i) * result.batch_size * steps_a_second / 1e9;
    result.effective_gflops += giga * static_cast<double>(result.stages[i].flops);
    result.real_gflops += giga * static_cast<double>(result.stages[i].real_flops);
  }
}

std::vector<StageBytes> bytes_of_stages(const StepBenchResult& result) {
  std::vector<StageBytes> bytes;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const StageReport& stage = result.stages[i];
    bytes.push_back(
        least_bytes(stage, {.samples = static_cast<std::size_t>(result.batch_size),
                            .passes = static_cast<std::size_t>(result.microbatches),
                            .source_has_gradient = i > 0}));
  }
  return bytes;
}

}  // namespace

StepBenchResult bench_step(const Settings& settings, const StepBenchOptions& options) {
  const ModelEntry& entry = find_model(settings.model.name);
  Shape input = entry.usual_input;
  if (options.image > 0) input.height = input.width = options.image;
  const LaidOutModel model = lay_out(entry.make(input, kClasses));
  const auto batch_size = static_cast<std::size_t>(settings.train.batch_size);
  const std::size_t count = microbatch_count(settings, /*ranks=*/1);
  TrainingRig rig(model, rig_options(settings, model.layout));
  rig.initialize(settings.train.seed);
  rig.adopt_values();
  rig.plan_passes(pass_options(settings, all_microbatches(count)));
  const OptimizerStep update = rig.step();
  Microbatches& microbatches = rig.microbatches();
  PassListener no_listener;
  const Schedule schedule(schedule_options(settings, /*steps=*/1, /*steps_in_epoch=*/1));
  const MadeUpBatch batch(batch_size, model.model.input);

  StepBenchResult result{.model = settings.model.name,
                         .kernels = name_of(rig.network().kernels()),
                         .batch_size = settings.train.batch_size,
                         .threads = rig.team().threads(),
                         .microbatches = static_cast<int>(count)};
  result.arena_bytes = rig.network().arena_bytes();
  result.probe_vectors = name_of(widest_fma_vectors());
  result.probe_before_gflops = fma_probe_gflops(rig.team());
  std::vector<double> milliseconds;
  std::vector<StageReport> warm;
  const Stopwatch total;
  for (std::uint32_t step = 0;
       total.seconds() < options.seconds || milliseconds.size() < options.least_steps;
       ++step) {
    if (step == kWarmUpSteps) warm = rig.network().reports();
    const Stopwatch watch;
    rig.start_step(step, schedule.at(0));
    microbatches.scale_loss(update.scale());
    microbatches.run(Samples{batch.images, batch.labels}, rig.values(),
                     {settings.train.seed, step}, no_listener);
    update.update(rig.values(), microbatches.gradients().whole());
    microbatches.update_running_stats(batch_size, rig.statistics());
    if (step >= kWarmUpSteps) milliseconds.push_back(watch.seconds() * 1e3);
  }
  result.probe_after_gflops = fma_probe_gflops(rig.team());
  result.stages = seconds_of_one(warm, rig.network().reports(), milliseconds.size());
  result.peak_bytes = peak_memory_bytes();
  // After the peak was read: the probe has buffers of its own.
  if (options.bandwidth) result.bandwidth = probe_bandwidth(rig.team());
  summarize(std::move(milliseconds), result);
  count_flops(result);
  result.stage_bytes = bytes_of_stages(result);
  return result;
}

}  // namespace convoy
