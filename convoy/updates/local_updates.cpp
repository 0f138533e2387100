// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/local_updates.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/comm/gathered_units.h"
#include "convoy/strategy/registry.h"
#include "convoy/system/process_usage.h"
#include "convoy/updates/update_bn.h"

namespace convoy {

LocalUpdateOptions local_update_options(const Settings& settings, const Comm& comm) {
  return {.strategy = strategy_name(settings, comm.ranks()),
          .microbatches = microbatch_count(settings, comm.ranks()),
          .delay = make_delay(settings, comm.rank(), comm.ranks())};
}

LocalUpdates::LocalUpdates(const TrainingContext& parts,
                           const LocalUpdateOptions& options)
    : parts_(parts),
      order_(options.microbatches, parts.comm.ranks(),
             deal_of(options.strategy, strategy_options(parts.settings))),
      microbatches_(planned_passes()),
      async_(parts.comm),
      strategy_(make_strategy(options.strategy, replica(), peers(),
                              strategy_options(parts.settings))),
      delays_(options.delay),
      compute_timer_(*strategy_, parts.work.layout.trained_segment_count(), delays_),
      all_gather_(async_, order_, parts.comm.rank()),
      loader_(parts.work.data.train, parts.work.samples.train,
              loader_options(parts.settings, parts.work, own_microbatches())) {
  describe({.strategy = options.strategy,
            .steps_per_epoch = loader_.batches_per_epoch(),
            .samples_per_epoch = loader_.samples_per_epoch(),
            .microbatches = order_.microbatches(),
            .workers = static_cast<std::size_t>(parts.comm.ranks()),
            .memory = memory(options),
            .plan = plan(options.strategy),
            .gradients = &microbatches_.gradients().whole(),
            .sharding = strategy_->sharding()});
}

UpdateMemory LocalUpdates::memory(const LocalUpdateOptions& options) const {
  UpdateMemory memory{.gradients = microbatches_.gradient_bytes(),
                      .activations = parts_.rig.network().arena_bytes()};
  if (strategy_->sharding().state == nullptr) return memory;
  const FsdpMemory own =
      fsdp_memory(parts_.work.layout, parts_.comm.ranks(), options.microbatches,
                  strategy_options(parts_.settings).fsdp);
  if (order_.microbatches_of(0).is_in_turn()) {
    memory.gradients = own.gradients + own.passing;
  }
  memory.values = own.values + own.gathered;
  memory.slot = own.slot;
  return memory;
}

std::unique_ptr<UpdateSource> make_local_updates(const TrainingContext& parts) {
  return std::make_unique<LocalUpdates>(parts,
                                        local_update_options(parts.settings, parts.comm));
}

Microbatches& LocalUpdates::planned_passes() {
  parts_.rig.plan_passes(pass_options(parts_.settings, own_microbatches()));
  return parts_.rig.microbatches();
}

Replica LocalUpdates::replica() {
  return {.layout = parts_.work.layout,
          .statistics_layout = parts_.work.statistics_layout,
          .values = parts_.rig.values(),
          .statistics = parts_.rig.statistics(),
          .gradients = microbatches_.gradients(),
          .batch_stats = microbatches_.batch_stats(),
          .step = parts_.rig.step(),
          .types = parts_.rig.types()};
}

/// Returns the batch of that step; nullptr at the end of the epoch.
const Batch* LocalUpdates::next_batch(const TrainPosition& position) {
  if (epoch_ != position.epoch) {
    loader_.start_epoch(position.epoch, position.step_in_epoch);
    epoch_ = position.epoch;
  }
  return loader_.next();
}

NextUpdate LocalUpdates::next(const StepRequest& request) {
  const std::size_t step = request.position.step;
  const Batch* batch = next_batch(request.position);
  check(batch != nullptr, "an epoch has the batches it was planned with");
  const Stopwatch watch;
  parts_.rig.start_step(step, request.rates);
  microbatches_.scale_loss(parts_.rig.step().scale());
  compute_timer_.begin(step);
  microbatches_.run(
      {{batch->images, batch->labels, batch->distributions}, batch->global_count},
      parts_.rig.values(), key(step), compute_timer_);
  start_all_gather(request);
  strategy_->step();
  microbatches_.update_running_stats(batch->global_count, parts_.rig.statistics());
  const LossSum loss = finish_all_gather();
  return Update{.loss = loss,
                .rate = request.rates.rate,
                .seconds = watch.seconds(),
                .reports = all_gather_.reports(),
                .stop_signal = all_gather_.stop_signal(),
                .gather_resources = all_gather_.reports().front().gather_resources != 0,
                .diverged = parts_.rig.is_diverged(loss.loss)};
}

/// Starts the small all-gather of the step whose backward is complete.
void LocalUpdates::start_all_gather(const StepRequest& request) {
  next_report_.stop_signal = request.stop_signal();
  next_report_.own_seconds = compute_timer_.seconds();
  next_report_.data_seconds = loader_.seconds_waited() - reported_.data_seconds;
  next_report_.gather_resources = request.gather_resources ? 1 : 0;
  reported_.data_seconds = loader_.seconds_waited();
  all_gather_.start(next_report_, microbatches_.losses());
}

/// Returns the loss of the global batch. Since no operation is pending now, the traffic
/// of this step's exchange can be counted; it is reported with the next step.
LossSum LocalUpdates::finish_all_gather() {
  const Stopwatch watch;
  const LossSum loss = all_gather_.finish();
  seconds_agreeing_ += watch.seconds();
  const double exposed = seconds_exposed();
  const std::uint64_t sent = parts_.comm.total_traffic().bytes_sent;
  next_report_.exposed_seconds = exposed - reported_.exposed_seconds;
  next_report_.bytes_sent = sent - reported_.bytes;
  reported_.exposed_seconds = exposed;
  reported_.bytes = sent;
  return loss;
}

void LocalUpdates::update_bn(const TrainPosition& position, FlatBuffer& values,
                             FlatBuffer& statistics) {
  std::ranges::copy(parts_.rig.statistics().numbers(), statistics.data());
  const Layout& layout = parts_.work.layout;
  PassListener nobody;
  std::optional<GatheredUnits> gathered;
  if (const ShardPlan* plan = strategy_->sharding().values) {
    gathered.emplace(
        layout,
        ParameterStore(layout, values, *plan, parts_.comm.rank(), Residency::shard),
        async_, GatherOptions{.backward = false});
  }
  PassListener& listener = gathered ? static_cast<PassListener&>(*gathered) : nobody;
  convoy::update_bn({loader_, microbatches_, peers(), key(position.step), listener},
                    position.epoch, values, statistics);
  epoch_.reset();
  seconds_in_measuring_ += loader_.seconds_waited() - reported_.data_seconds;
  reported_.data_seconds = loader_.seconds_waited();  // not part of a step
}

UpdateTelemetry LocalUpdates::telemetry() const {
  return {.waiting_for_data = loader_.seconds_waited() - seconds_in_measuring_,
          .exposed = seconds_exposed(),
          .slept = delays_.seconds_slept(),
          .summary_fields = loader_fields()};
}

/// What decoding took, of a run on image files.
nlohmann::ordered_json LocalUpdates::loader_fields() const {
  if (!parts_.work.data.train.files) return nullptr;
  const LoaderWork work = loader_.work();
  const double seconds = work.cpu_seconds;
  const ProcessUsage usage = process_usage();
  return {{"loader",
           {{"threads", work.threads},
            {"images", work.images},
            {"cpu_seconds", seconds},
            {"cpu_share", seconds / (usage.user_seconds + usage.system_seconds)},
            {"images_per_core_second",
             seconds > 0 ? static_cast<double>(work.images) / seconds : 0}}}};
}

std::string LocalUpdates::plan(const std::string& strategy) const {
  const int ranks = parts_.comm.ranks();
  const std::size_t microbatches = order_.microbatches();
  return fmt::format(
      "cluster   {} rank{}, strategy {}, {} threads{}, {} kernels\n"
      "batch     {} samples per update in {} micro-batch{}: the same bits on up to {} "
      "rank{}\n",
      ranks, ranks == 1 ? "" : "s", strategy, parts_.rig.team().threads(),
      ranks == 1 ? "" : " each", name_of(parts_.rig.network().kernels()),
      parts_.settings.train.batch_size, microbatches, microbatches == 1 ? "" : "es",
      microbatches, microbatches == 1 ? "" : "s");
}

}  // namespace convoy
