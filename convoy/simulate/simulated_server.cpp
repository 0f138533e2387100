// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/simulated_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/setup/precision.h"

namespace convoy {
namespace {

LinkOptions link_of(const SimSettings& sim, double gbps) {
  return {.latency = sim.latency_us * 1e-6, .bandwidth = gbps * 1e9 / 8};
}

LinkOptions worker_link(const SimSettings& sim) {
  return link_of(sim, sim.bandwidth_gbps);
}

LinkOptions server_link(const SimSettings& sim) {
  return sim.server_gbps > 0 ? link_of(sim, sim.server_gbps) : worker_link(sim);
}

/// Batches of virtual workers are not mixed.
AugmentOptions augment_options(const TrainingContext& parts) {
  const LoaderOptions options = loader_options(parts.settings, parts.work, {});
  if (!options.transforms.mix.is_on()) {
    return {options.augmentation, options.seed, options.transforms};
  }
  throw InputError(InputKind::settings,
                   {.where = "train.augment",
                    .found = "imagenet_strong with mixup or cutmix",
                    .expected = "neither in a simulation of ps_async",
                    .hint = "train.mixup_alpha=0 train.cutmix_alpha=0"});
}

}  // namespace

SimulatedServer::VirtualWorker::VirtualWorker(const TrainingContext& parts,
                                              const Delay& delay)
    : gradients(parts.work.layout),
      statistics(parts.work.statistics_layout),
      delay(delay),
      up(worker_link(parts.settings.sim)),
      down(worker_link(parts.settings.sim)) {}

SimulatedServer::SimulatedServer(const TrainingContext& parts, int workers)
    : parts_(parts),
      schedule_(parts.settings, parts.work, workers),
      server_(async_server_options(parts.settings, schedule_),
              {parts.work.layout,
               {0, parts.rig.values().size()},
               parts.rig.values(),
               parts.rig.optimizer(),
               parts.rig.clip(),
               parts.rig.scaler()},
              parts.rig.team()),
      filler_(parts.work.data.train, parts.work.normalization, parts.work.model.input,
              augment_options(parts)),
      images_(static_cast<std::size_t>(parts.settings.train.batch_size) *
              filler_.shape().size()),
      labels_(static_cast<std::size_t>(parts.settings.train.batch_size)),
      times_(parts.settings.sim, sample_seconds(parts.settings, parts.work.model),
             parts.settings.train.seed),
      links_{Link(server_link(parts.settings.sim)),
             Link(server_link(parts.settings.sim))},
      last_{FlatBuffer(parts.work.layout)} {
  parts.rig.plan_passes(
      pass_options(parts.settings, all_microbatches(schedule_.microbatches)));
  workers_.reserve(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) {
    workers_.emplace_back(parts, make_delay(parts.settings, worker, workers));
  }
  const auto batch = static_cast<std::size_t>(parts.settings.train.batch_size);
  describe({.strategy = choice_name(StrategyChoice::ps_async),
            .steps_per_epoch = schedule_.per_epoch(),
            .samples_per_epoch = schedule_.per_epoch() * batch,
            .microbatches = schedule_.microbatches,
            .workers = workers_.size(),
            .memory = memory(),
            .plan = plan(),
            .gradients = &last_.gradients,
            .clock = &clock_});
}

std::uint64_t SimulatedServer::push_bytes() const {
  return parts_.work.layout.trained_count() * bytes_of(gradient_dtype(parts_.settings));
}

std::uint64_t SimulatedServer::values_bytes() const {
  const StoredTypes types = stored_types(parts_.settings, parts_.work.layout);
  std::uint64_t bytes = 0;
  for (const Segment& segment : parts_.work.layout.segments()) {
    bytes += segment.range.size() * bytes_of(types.of(segment));
  }
  return bytes;
}

void SimulatedServer::begin() {
  real_.since_begin.restart();
  const int count = static_cast<int>(workers_.size());
  for (int worker = 0; worker < count; ++worker) server_.set_connected(worker, true);
  for (int worker = 0; worker < count; ++worker) give_work(worker);
}

/// A worker that is too far ahead waits.
void SimulatedServer::give_work(int worker) {
  if (!server_.may_pull(worker)) {
    waiting_.push_back(worker);
    return;
  }
  const Assignment next = server_.pull(worker);
  if (next.over) return;
  compute(worker, next);
  VirtualWorker& one = at(worker);
  const double arrives =
      send_over(links_.out, values_bytes(), one.down, values_bytes(), events_.now());
  const double computing = times_.seconds(worker, next.sequence, one.push.samples);
  one.push.slept_seconds = one.delay.seconds(next.sequence, computing);
  one.push.own_seconds = computing + one.push.slept_seconds;
  one.slept += one.push.slept_seconds;
  events_.schedule(arrives + one.push.own_seconds, {EventKind::computed, worker});
}

void SimulatedServer::release_waiting() {
  for (const int worker : std::exchange(waiting_, {})) give_work(worker);
}

BatchShare SimulatedServer::batch(int worker, std::uint64_t sequence) {
  VirtualWorker& one = at(worker);
  const WorkerSchedule::Place place = schedule_.place(worker, sequence);
  if (place.epoch != one.epoch) {
    one.order = epoch_order(schedule_.parts[static_cast<std::size_t>(worker)],
                            parts_.settings.train.seed, place.epoch,
                            static_cast<std::uint32_t>(worker));
    one.epoch = place.epoch;
  }
  const auto size = static_cast<std::size_t>(parts_.settings.train.batch_size);
  const std::size_t first = place.batch * size;
  const std::size_t count = std::min(size, one.order.size() - first);
  const auto images = images_.span().first(count * filler_.shape().size());
  const auto labels = labels_.span().first(count);
  filler_.fill(place.epoch, std::span(one.order).subspan(first, count), images, labels);
  return Samples{images, labels};
}

/// Computes the gradient of the worker's next batch with the current values.
void SimulatedServer::compute(int worker, const Assignment& next) {
  VirtualWorker& one = at(worker);
  Microbatches& microbatches = parts_.rig.microbatches();
  const BatchShare share = batch(worker, next.sequence);
  const double scale = parts_.rig.step().scale();
  const Stopwatch watch;
  microbatches.scale_loss(scale);
  microbatches.run(share, parts_.rig.values(),
                   schedule_.key(parts_.settings.train.seed, worker, next.sequence),
                   nobody_);
  real_.computing += watch.seconds();
  const FlatBuffer& sum = microbatches.gradients().whole();
  one.push = {.sequence = next.sequence,
              .version = next.version,
              .samples = share.whole,
              .loss_scale = scale,
              .is_finite = parts_.rig.scaler() == nullptr ||
                           parts_.rig.scaler()->all_finite(sum.numbers())};
  one.push.microbatches.assign(microbatches.losses().begin(),
                               microbatches.losses().end());
  std::ranges::copy(sum.numbers(), one.gradients.data());
  std::ranges::copy(microbatches.batch_stats().whole().numbers(), one.statistics.data());
}

NextUpdate SimulatedServer::next(const StepRequest& request) {
  while (!events_.empty()) {
    const Event event = events_.next();
    clock_.advance_to(events_.now());
    if (event.kind == EventKind::arrived) return apply(event.worker, request);
    const double arrives = send_over(at(event.worker).up, push_bytes(), links_.in,
                                     push_bytes(), events_.now());
    events_.schedule(arrives, {EventKind::arrived, event.worker});
  }
  return NoMoreUpdates{};
}

Update SimulatedServer::apply(int worker, const StepRequest& request) {
  VirtualWorker& one = at(worker);
  const Applied applied = server_.push(
      worker, one.push, one.gradients.view({0, one.gradients.size()}), request.rates);
  check(applied.result == PushResult::applied,
        "a virtual worker's push answers its assignment");
  std::swap(last_.gradients, one.gradients);
  Update made{.rate = applied.rate,
              .seconds = events_.now() - last_.at,
              .first_reporter = static_cast<std::size_t>(worker),
              .stop_signal = request.stop_signal(),
              .gather_resources = request.gather_resources};
  for (const LossSum& microbatch : one.push.microbatches) made.loss += microbatch;
  made.diverged = parts_.rig.is_diverged(made.loss.loss);
  last_.at = events_.now();
  real_.seconds = real_.since_begin.seconds();
  last_.report = {.own_seconds = one.push.own_seconds};
  made.reports = {&last_.report, 1};
  update_running_stats(parts_.work.statistics_layout, one.statistics.numbers(),
                       std::min(made.loss.samples, schedule_.microbatches),
                       parts_.rig.statistics());
  give_work(worker);
  release_waiting();
  if (request.is_recorded) made.fields = step_fields();
  return made;
}

UpdateMemory SimulatedServer::memory() const {
  const std::size_t one =
      (parts_.work.layout.size() + parts_.work.statistics_layout.size()) * sizeof(float);
  const std::size_t copies = async_server_bytes(
      async_server_options(parts_.settings, schedule_), {0, parts_.rig.values().size()});
  return {.gradients =
              parts_.rig.microbatches().gradient_bytes() + workers_.size() * one + copies,
          .activations = parts_.rig.network().arena_bytes()};
}

std::string SimulatedServer::plan() const {
  const Settings& settings = parts_.settings;
  return fmt::format(
      "cluster   {} virtual worker{}, 1 server, strategy {}, partition {}, staleness "
      "bound {}\n"
      "clock     virtual: {:.4g} ms per batch ({}), {:.4g} us, {:.4g} Gbit/s\n"
      "batch     {} samples per push, one update per push; compensation {}\n",
      workers_.size(), workers_.size() == 1 ? "" : "s",
      choice_name(StrategyChoice::ps_async), choice_name(settings.data.partition),
      settings.ps.max_staleness, batch_milliseconds(settings, parts_.work.model),
      choice_name(settings.sim.compute_kind), settings.sim.latency_us,
      settings.sim.bandwidth_gbps, settings.train.batch_size,
      choice_name(settings.ps.compensation));
}

nlohmann::ordered_json SimulatedServer::step_fields() {
  nlohmann::ordered_json fields = take_staleness_fields(server_.staleness());
  fields["virtual_seconds"] = clock_.seconds();
  return fields;
}

UpdateTelemetry SimulatedServer::telemetry() const {
  UpdateTelemetry telemetry;
  for (const VirtualWorker& worker : workers_) {
    telemetry.slept_by_worker.push_back(worker.slept);
  }
  telemetry.summary_fields = {
      {"simulated", true},
      {"virtual_seconds", clock_.seconds()},
      {"wall_seconds", real_.seconds},
      {"computing_seconds", real_.computing},
      {"bytes", {{"sent", links_.out.bytes()}, {"received", links_.in.bytes()}}},
      {"staleness", staleness_json(server_.staleness())}};
  return telemetry;
}

}  // namespace convoy
