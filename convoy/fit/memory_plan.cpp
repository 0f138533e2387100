// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "convoy/evaluate/evaluation.h"
#include "convoy/network/microbatches.h"
#include "convoy/network/plan/network_plan.h"
#include "convoy/setup/data_setup.h"
#include "convoy/setup/precision.h"
#include "convoy/strategy/registry.h"

namespace convoy {
namespace {

/// What a process has resident besides everything that is planned: the program and its
/// libraries, the allocator's own, stacks. Measured on processes with small models.
constexpr std::size_t kProcessBytes = std::size_t{20} << 20;
constexpr std::size_t kThreadBytes = std::size_t{256} << 10;

/// Batches that a loader prepares ahead, and the one in use.
constexpr std::size_t kRing = static_cast<std::size_t>(LoaderOptions{}.ahead) + 1;

/// With ps_async a worker computes all micro-batches of batches of its own.
MicrobatchPart part_of(const Settings& settings, const JobShape& job,
                       const PlannedProcess& process) {
  if (job.is_asynchronous()) {
    return all_microbatches(microbatch_count(settings, /*ranks=*/1));
  }
  const std::size_t microbatches = microbatch_count(settings, job.ranks);
  const int number = process.computes() ? process.number : 0;
  const Deal deal =
      job.is_served() ? Deal::runs : deal_of(job.strategy, strategy_options(settings));
  return deal_microbatches(microbatches, job.ranks, number, deal);
}

std::size_t data_bytes(const Dataset& data) {
  return data.images.memory_bytes() + data.labels.size_bytes();
}

}  // namespace

std::size_t recompute_units(const Settings& settings) {
  return settings.train.recompute == RecomputeChoice::units ? kAllUnits : 0;
}

std::size_t MemoryPlan::total() const {
  std::size_t sum = 0;
  for (const auto& [name, bytes] : parts()) sum += bytes;
  return sum;
}

std::vector<std::pair<std::string_view, std::size_t>> MemoryPlan::parts() const {
  return {{"activations", activations},
          {"values", strategy.values},
          {"gradients", strategy.gradients},
          {"optimizer", strategy.optimizer},
          {"averages", strategy.averages},
          {"exchange", strategy.exchange},
          {"checkpoint", strategy.checkpoint},
          {"loader", loader},
          {"evaluation", evaluation},
          {"data", data},
          {"process", process}};
}

std::size_t MemoryPlanner::arena_bytes(const Settings& settings, std::size_t samples,
                                       std::size_t recompute_units, bool training) {
  const int threads = thread_count(settings);
  const ArenaKey key{samples, recompute_units, threads, value_dtype(settings), training};
  const auto known = arenas_.find(key);
  if (known != arenas_.end()) return known->second;
  NetworkOptions options = network_options(settings, samples);
  options.training = training;
  options.recompute_units = recompute_units;
  const std::size_t bytes =
      plan_network(work_.model, work_.layout, options, threads).arena.bytes();
  return arenas_[key] = bytes;
}

std::size_t MemoryPlanner::loader_bytes(const Settings& settings,
                                        const MicrobatchPart& part) const {
  const auto batch = static_cast<std::size_t>(settings.train.batch_size);
  const std::size_t epoch = std::max<std::size_t>(1, work_.samples.train.size());
  const std::size_t batches = (epoch + batch - 1) / batch;
  const bool mixes = transform_options(settings.train).mix.is_on();
  const std::size_t samples = part.sample_count(batch);
  const std::size_t images = samples + (mixes ? part.count() : 0);
  const std::size_t targets = mixes ? samples * work_.data.train.classes.size() : 0;
  return std::min(kRing, batches + 1) * (images * work_.model.input.size() + targets) *
         sizeof(float);
}

std::size_t MemoryPlanner::evaluation_bytes(const Settings& settings) {
  const std::size_t image = work_.model.input.size();
  const auto classes = static_cast<std::size_t>(class_count(work_.model));
  const std::size_t samples = evaluation_batch_size(work_.model.input, classes);
  const bool has_views = settings.eval.flip || settings.eval.shift > 0;
  return arena_bytes(settings, samples, 0, /*training=*/false) +
         (kRing + (has_views ? 1 : 0)) * samples * image * sizeof(float) +
         samples * classes * sizeof(double);
}

MemoryPlan MemoryPlanner::process(const Settings& settings, const JobShape& job,
                                  const PlannedProcess& process,
                                  std::size_t recompute_units) {
  const MicrobatchPart part = part_of(settings, job, process);
  const auto batch = static_cast<std::size_t>(settings.train.batch_size);
  MemoryPlan plan{.strategy = strategy_memory({settings, work_, job, process, part})};
  if (process.computes()) {
    const std::size_t samples = Microbatches::most_samples(batch, part.microbatches);
    plan.activations = arena_bytes(settings, samples, recompute_units, /*training=*/true);
    plan.loader = loader_bytes(settings, part);
  }
  if (process.evaluates()) plan.evaluation = evaluation_bytes(settings);
  plan.data = data_bytes(work_.data.train) + data_bytes(work_.data.test);
  plan.process =
      kProcessBytes + static_cast<std::size_t>(thread_count(settings)) * kThreadBytes;
  return plan;
}

std::vector<MemoryPlan> MemoryPlanner::machine(const Settings& settings,
                                               const JobShape& job,
                                               std::size_t recompute_units) {
  std::vector<MemoryPlan> plans;
  for (int server = 0; server < job.local_servers(); ++server) {
    plans.push_back(
        process(settings, job, {ProcessKind::server, server}, recompute_units));
  }
  const ProcessKind kind = job.is_served() ? ProcessKind::worker : ProcessKind::rank;
  const int end = std::min(job.ranks, job.first_rank() + job.local_ranks);
  for (int rank = job.first_rank(); rank < end; ++rank) {
    plans.push_back(process(settings, job, {kind, rank}, recompute_units));
  }
  return plans;
}

std::size_t MemoryPlanner::machine_total(const Settings& settings, const JobShape& job,
                                         std::size_t recompute_units) {
  std::size_t sum = 0;
  for (const MemoryPlan& plan : machine(settings, job, recompute_units)) {
    sum += plan.total();
  }
  return sum;
}

}  // namespace convoy
