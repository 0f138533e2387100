// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/training_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/optimizer/sum_of_squares.h"
#include "convoy/setup/whitening.h"

namespace convoy {
namespace {

std::optional<RunMemory> planned_memory(const Settings& settings, const Workload& work,
                                        const std::optional<JobShape>& job, int rank) {
  if (!job) return {};
  const ProcessKind kind = job->is_served() ? ProcessKind::server : ProcessKind::rank;
  return plan_run_memory(settings, work, *job, {kind, rank});
}

RigOptions options_of(const Settings& settings, const Workload& work,
                      const std::optional<RunMemory>& memory) {
  RigOptions options = rig_options(settings, work.layout);
  if (memory) options.recompute_units = memory->recompute_units;
  return options;
}

}  // namespace

TrainingParts::TrainingParts(const Settings& chosen, Comm& ranks,
                             const UpdateSourceFactory& make_updates,
                             const std::optional<JobShape>& job)
    : settings(chosen),
      comm(ranks),
      work(load_training_workload(chosen)),
      memory(planned_memory(chosen, work, job, ranks.rank())),
      rig(work, options_of(chosen, work, memory)),
      evaluator(work.model, work.layout, evaluation_options(chosen), rig.team()),
      updates(make_updates({settings, comm, work, rig})),
      schedule(schedule_options(chosen, steps_planned(), description().steps_per_epoch)),
      policy(chosen) {
  set_first_values();
  if (settings.train.ema > 0 || settings.train.swa_start > 0) {
    averages.emplace(settings.train, work.layout, work.statistics_layout, own_ranges(),
                     rig.team());
    const ShardPlan* plan = description().sharding.values;
    if (plan != nullptr) keep_own_part(*plan, comm.rank(), averages->values());
  }
}

void TrainingParts::set_first_values() {
  rig.initialize(settings.train.seed);
  if (settings.train.whiten) {
    whiten(training_images(work), work.layout, first_convolution(work.layout),
           rig.values());
  }
  if (!settings.model.init.empty() && !resumes_from_checkpoint(settings)) {
    initial = load_initial_weights(
        settings.model.init,
        {{work.layout, rig.values()}, {work.statistics_layout, rig.statistics()}});
  }
  rig.adopt_values();
}

std::size_t TrainingParts::steps_planned() const {
  const std::size_t all =
      description().steps_per_epoch * static_cast<std::size_t>(settings.train.epochs);
  const auto limit = static_cast<std::size_t>(settings.train.max_steps);
  return limit == 0 ? all : std::min(all, limit);
}

Weights TrainingParts::weights() const {
  if (averages && averages->any()) return averages->weights();
  return {rig.values(), rig.statistics()};
}

TrainedNumbers TrainingParts::trained_numbers() {
  const Sharding& sharding = description().sharding;
  if (averages && averages->any()) return {averages->values(), sharding.values};
  return {rig.trained_values(),
          rig.types() != nullptr ? sharding.state : sharding.values};
}

FlatBuffer& TrainingParts::evaluated_values() {
  return averages && averages->any() ? averages->values() : rig.values();
}

std::vector<Range> TrainingParts::own_ranges() const {
  const ShardPlan* plan = description().sharding.values;
  if (plan == nullptr) return {{0, work.layout.size()}};
  return plan->ranges_of(comm.rank());
}

PolicyState TrainingParts::policy_state() const {
  PolicyState state;
  policy.save_to(state);
  state.averaged = averages ? averages->count() : 0;
  return state;
}

void TrainingParts::set_policy_state(const PolicyState& state) {
  policy.restore_from(state);
  if (averages) averages->set_count(state.averaged);
}

double weight_norm(const TrainingParts& parts) {
  const FlatBuffer& values = parts.rig.values();
  const std::optional<Range>& updated = parts.description().own_values;
  const std::vector<Range> own = updated ? std::vector{*updated} : parts.own_ranges();
  double sum = 0;
  for (const Range& range : own) sum += sum_of_squares(values.view(range));
  if (!has_divided_values(parts.description())) return std::sqrt(sum);
  std::vector<double> sums(static_cast<std::size_t>(parts.comm.ranks()));
  parts.comm.all_gather(std::as_bytes(std::span(&sum, 1)),
                        std::as_writable_bytes(std::span(sums)));
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

bool has_divided_values(const UpdateDescription& updates) {
  return updates.own_values || updates.sharding.values != nullptr;
}

bool resumes_from_checkpoint(const Settings& settings) {
  const std::filesystem::path from = settings.train.resume;
  return !from.empty() && !(is_run_folder(from) && list_checkpoints(from).empty());
}

}  // namespace convoy
