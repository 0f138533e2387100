// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/worker.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/comm/reduction_order.h"
#include "convoy/fit/largest_batch.h"
#include "convoy/ps_transport/server_range.h"
#include "convoy/setup/precision.h"

namespace convoy {
namespace {

LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const MicrobatchPart& part, std::uint32_t order) {
  LoaderOptions options = loader_options(settings, work, part);
  options.worker = order;
  return options;
}

RigOptions rig_options(const Settings& settings, const Workload& work,
                       const WorkerPlace& place) {
  RigOptions options{.threads = thread_count(settings)};
  if (!place.job) return options;
  const PlannedProcess own{ProcessKind::worker, place.worker};
  options.recompute_units =
      plan_run_memory(settings, work, *place.job, own).recompute_units;
  return options;
}

/// Seconds within which servers that were asked to stop as well would have said so.
constexpr double kShutdownGrace = 5;

/// Only this worker was asked to stop: the others continue.
Assignment asked_alone(int signal) {
  return {.over = true,
          .code = ExitCode::stopped,
          .reason = fmt::format("stopped by {}", stop_signal_name(signal))};
}

}  // namespace

Worker::Worker(const Settings& settings, const WorkerPlace& place)
    : settings_(settings),
      place_(place),
      work_(load_training_workload(settings)),
      schedule_(settings.strategy.name == StrategyChoice::ps_async
                    ? std::optional<WorkerSchedule>(std::in_place, settings, work_,
                                                    place.workers)
                    : std::nullopt),
      plan_(plan()),
      rig_(work_, rig_options(settings, work_, place)),
      delays_(make_delay(settings, place.worker, place.workers)),
      compute_timer_(nobody_, work_.layout.trained_segment_count(), delays_),
      loader_(work_.data.train, plan_.samples,
              loader_options(settings, work_, plan_.part, plan_.order_of)) {
  rig_.plan_passes(pass_options(settings, plan_.part));
  if (value_dtype(settings) != Dtype::fp32) {
    types_.emplace(stored_types(settings, work_.layout));
  }
  judges_ = schedule_ && loss_scale_options(settings);
}

/// In ps_async, a worker has its own samples and computes all micro-batches of its
/// batches; in ps_sync, it computes some micro-batches of the global batch.
Worker::Plan Worker::plan() const {
  if (schedule_) {
    const auto own = schedule_->parts[static_cast<std::size_t>(place_.worker)];
    return {schedule_->microbatches,
            all_microbatches(schedule_->microbatches),
            {own.begin(), own.end()},
            static_cast<std::uint32_t>(place_.worker)};
  }
  const ReductionOrder order(microbatch_count(settings_, place_.workers), place_.workers);
  return {order.microbatches(), order.microbatches_of(place_.worker), work_.samples.train,
          0};
}

WorkerPortOptions Worker::port_options(const std::vector<ServerAddress>& servers,
                                       const std::string& token) {
  WorkerPortOptions options{
      .servers = servers,
      .ranges = {},
      .token = token,
      .worker = place_.worker,
      .pushed = {},
      .frozen_statistics = {},
      .types = types_ ? &*types_ : nullptr,
      .gradient_type = gradient_dtype(settings_),
      .statistics = work_.statistics_layout.size(),
      .partials = rig_.microbatches().gradients().count(),
      .microbatches = plan_.part.count(),
      .timeout = milliseconds_of(settings_.cluster.operation_timeout)};
  for (int server = 0; server < place_.servers; ++server) {
    const Range range = server_range(work_.layout, server, place_.servers);
    options.ranges.push_back(range);
    options.pushed.push_back(work_.layout.trained_in(range));
  }
  if (work_.has_frozen_statistics()) {
    options.frozen_statistics = rig_.statistics().view({0, rig_.statistics().size()});
  }
  return options;
}

RngKey Worker::key(std::uint64_t sequence) const {
  if (schedule_) return schedule_->key(settings_.train.seed, place_.worker, sequence);
  return {settings_.train.seed, static_cast<std::uint32_t>(sequence)};
}

const Batch& Worker::batch(std::uint64_t sequence) {
  const std::size_t in_epoch = loader_.batches_per_epoch();
  const bool follows = last_ && sequence == *last_ + 1 && sequence % in_epoch != 0;
  if (!follows) {
    loader_.start_epoch(static_cast<int>(sequence / in_epoch) + 1, sequence % in_epoch);
  }
  last_ = sequence;
  const Batch* next = loader_.next();
  check(next != nullptr, "an epoch has the batches it was planned with");
  return *next;
}

Push Worker::compute(const Assignment& next) {
  const Batch& data = batch(next.sequence);
  compute_timer_.begin(next.sequence);
  rig_.microbatches().scale_loss(next.loss_scale);
  rig_.microbatches().run(
      {{data.images, data.labels, data.distributions}, data.global_count}, rig_.values(),
      key(next.sequence), compute_timer_);
  const FlatBuffer& sums = rig_.microbatches().gradients().whole();
  Push push{.sequence = next.sequence,
            .version = next.version,
            .samples = data.global_count,
            .own_seconds = compute_timer_.seconds(),
            .data_seconds = loader_.seconds_waited() - reported_data_seconds_,
            .slept_seconds = delays_.last_seconds_slept(),
            .loss_scale = next.loss_scale,
            .is_finite = !judges_ || all_finite(sums.numbers(), rig_.team())};
  reported_data_seconds_ = loader_.seconds_waited();
  const std::span<const LossSum> losses = rig_.microbatches().losses();
  push.microbatches.assign(losses.begin(), losses.end());
  return push;
}

Assignment Worker::run(WorkerPort& port, const StopRequest& stop,
                       const std::function<void(std::size_t)>& on_step) {
  double exchanging = 0;
  Stopwatch since_asked;
  Assignment next = port.join(rig_.values());
  while (!next.over) {
    if (stop.signal() == 0) since_asked.restart();
    if (since_asked.seconds() > kShutdownGrace) return asked_alone(stop.signal());
    if (on_step) on_step(next.version);
    Push push = compute(next);
    push.exchange_seconds = exchanging;
    const Stopwatch watch;
    next = port.push(push,
                     {rig_.microbatches().gradients(), rig_.microbatches().batch_stats()},
                     rig_.values());
    exchanging = watch.seconds();
  }
  return next;
}

}  // namespace convoy
