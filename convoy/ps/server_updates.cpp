// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/server_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "convoy/base/error.h"
#include "convoy/network/microbatches.h"
#include "convoy/ps/ps_async.h"
#include "convoy/ps/ps_sync.h"
#include "convoy/ps_transport/server_range.h"
#include "convoy/setup/precision.h"
#include "convoy/updates/save_times.h"

namespace convoy {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(200);
// Polling interval for workers while servers meet.
constexpr auto kPollInterval = std::chrono::milliseconds(5);
constexpr double kLeaveGrace =
    5;  // seconds for workers to finish their batches at the end

InputError refusal(const char* where, std::string found, std::string hint) {
  return {InputKind::settings,
          {.where = where,
           .found = std::move(found),
           .expected = "what a parameter server supports",
           .hint = std::move(hint)}};
}

void check_service(const TrainingContext& parts) {
  const Settings& settings = parts.settings;
  if (parts.rig.clip() != nullptr && parts.comm.ranks() > 1) {
    throw refusal("optimizer.clip_norm",
                  fmt::format("{} with {} servers", settings.optimizer.clip_norm,
                              parts.comm.ranks()),
                  "ps.servers=1: with several, no server has the complete gradient");
  }
  if (parts.comm.ranks() > 1 &&
      (settings.train.ema > 0 || settings.train.swa_start > 0)) {
    throw refusal(
        settings.train.ema > 0 ? "train.ema" : "train.swa_start",
        fmt::format("averages of values with {} servers", parts.comm.ranks()),
        "ps.servers=1: with several, no server has all values after every update");
  }
  if (settings.train.swa_start > 0 && parts.rig.statistics().size() > 0) {
    throw refusal("train.swa_start", "a model with running statistics",
                  "train.ema: a server has no images to measure statistics with");
  }
}

}  // namespace

UpdateSourceFactory server_updates(const ServiceOptions& service) {
  return [service](const TrainingContext& parts) -> std::unique_ptr<UpdateSource> {
    if (parts.settings.strategy.name == StrategyChoice::ps_sync) {
      return std::make_unique<PsSync>(parts, service);
    }
    return std::make_unique<PsAsync>(parts, service);
  };
}

ServerUpdates::ServerUpdates(const TrainingContext& parts, const ServiceOptions& service)
    : parts_(parts),
      own_(server_range(parts.work.layout, parts.comm.rank(), parts.comm.ranks())),
      gradients_(parts.work.layout),
      liveness_(static_cast<std::size_t>(service.workers)),
      service_(service),
      reports_(liveness_.workers()),
      slept_(liveness_.workers()) {
  check_service(parts);
}

void ServerUpdates::begin() {
  check(service_.listener != nullptr, "a server that runs has a port");
  liveness_.begin();
  port_ = std::make_unique<ServerPort>(
      std::move(*service_.listener),
      ServerPortOptions{
          .token = service_.token,
          .workers = service_.workers,
          .gradients = pushed_size(),
          .statistics = is_first() ? parts_.rig.statistics().size() : 0,
          .constants = own_.size() - pushed_size() + frozen_statistics().size(),
          .types = {.gradients = gradient_dtype(parts_.settings),
                    .values = parts_.rig.types(),
                    .range = own_},
          .partials = partials(),
          .microbatches = microbatches_by_worker(),
          .silence = milliseconds_of(parts_.settings.cluster.operation_timeout),
          .log = [this](const std::string& line) {
            const std::lock_guard lock(mutex_);
            messages_.push_back(line);
          }});
  keep_own_range();
  if (service_.on_open) service_.on_open();
  since_update_.restart();
}

void ServerUpdates::assign_values(int worker, const Assignment& assignment) {
  Assignment scaled = assignment;
  scaled.loss_scale = parts_.rig.step().scale();
  port_->assign(worker, scaled, parts_.rig.values().view(own_), frozen_statistics());
}

std::size_t ServerUpdates::pushed_size() const {
  std::size_t size = 0;
  for (const Range& range : trained()) size += range.size();
  return size;
}

/// Workers read all running statistics from the first server, if any are frozen.
std::span<const float> ServerUpdates::frozen_statistics() const {
  if (!is_first() || !parts_.work.has_frozen_statistics()) return {};
  return parts_.rig.statistics().numbers();
}

/// Returns the lines that the port's threads logged since the last call.
std::vector<std::string> ServerUpdates::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

/// Memory for what each worker pushes and pulls, in this process or shared with the
/// worker.
std::size_t ServerUpdates::port_bytes() const {
  const std::size_t statistics = is_first() ? parts_.rig.statistics().size() : 0;
  const Dtype gradients = gradient_dtype(parts_.settings);
  const StoredTypes types = stored_types(parts_.settings, parts_.work.layout);
  // What is sent in 16 bits is widened before it is added.
  const std::size_t number =
      sizeof(float) + (gradients == Dtype::fp32 ? 0 : bytes_of(gradients));
  std::size_t bytes = 0;
  for (const std::size_t count : partials()) {
    bytes +=
        count * (pushed_size() * number + statistics * sizeof(float)) + types.bytes(own_);
  }
  return bytes;
}

Traffic ServerUpdates::worker_traffic() const {
  if (!port_) return {};
  return {.bytes_sent = port_->bytes_sent(), .bytes_received = port_->bytes_received()};
}

std::optional<Arrival> ServerUpdates::next_arrival(const StepRequest& request) {
  const Stopwatch watch;
  std::optional<Arrival> arrival = port_->next(kMoment);
  seconds_waited_ += watch.seconds();
  for (const std::string& line : take_messages()) request.log(line);
  note_liveness(arrival);
  return arrival;
}

std::optional<Arrival> ServerUpdates::waiting_arrival() {
  std::optional<Arrival> arrival = port_->next(std::chrono::milliseconds(0));
  note_liveness(arrival);
  return arrival;
}

std::optional<Arrival> ServerUpdates::waiting_change() {
  std::optional<Arrival> arrival = port_->next_change();
  note_liveness(arrival);
  return arrival;
}

void ServerUpdates::note_liveness(const std::optional<Arrival>& arrival) {
  if (!arrival || arrival->kind == Arrival::Kind::push) return;
  liveness_.set_there(arrival->worker, arrival->kind == Arrival::Kind::joined);
}

bool ServerUpdates::all_servers(bool holds) {
  const std::byte own{holds};
  std::vector<std::byte> all(static_cast<std::size_t>(parts_.comm.ranks()));
  parts_.comm.all_gather({&own, 1}, all);
  return std::ranges::find(all, std::byte{0}) == all.end();
}

void ServerUpdates::meet(const std::function<void()>& operation,
                         const std::function<void()>& meanwhile) {
  if (!has_others()) return;
  std::future<void> all = std::async(std::launch::async, operation);
  while (all.wait_for(kPollInterval) != std::future_status::ready) meanwhile();
  all.get();
}

/// A single server decides by itself. Several servers are not at the same update at the
/// same time, so they decide when all of them meet.
void ServerUpdates::agree(const StepRequest& request, Update& update) {
  if (std::exchange(synchronized_, false)) keep_own_range();
  update.worker_traffic = worker_traffic();
  const int signal = request.stop_signal();
  if (parts_.comm.ranks() == 1) {
    update.stop_signal = signal;
    update.gather_resources = request.gather_resources;
    return;
  }
  const bool diverged = std::exchange(update.diverged, false);
  status_.stop_signal = std::max<std::int64_t>(status_.stop_signal, signal);
  status_.diverged = status_.diverged || diverged ? 1 : 0;
  if (!meets_after(request.position.step)) return;
  meet([this] { parts_.comm.barrier(); }, [this] { attend(); });
  std::vector<ServerStatus> all(static_cast<std::size_t>(parts_.comm.ranks()));
  parts_.comm.all_gather(std::as_bytes(std::span(&status_, 1)),
                         std::as_writable_bytes(std::span(all)));
  for (const ServerStatus& one : all) {
    update.stop_signal = std::max(update.stop_signal, static_cast<int>(one.stop_signal));
    update.diverged = update.diverged || one.diverged != 0;
  }
}

/// Servers meet when steps are recorded, and before everything they do together: at the
/// end of an epoch or of the run, and for a checkpoint.
bool ServerUpdates::meets_after(std::size_t step) const {
  const Settings& settings = parts_.settings;
  const std::size_t done = step + 1, per_epoch = description().steps_per_epoch;
  const auto saved_every = static_cast<std::size_t>(settings.checkpoint.every_steps);
  return done % static_cast<std::size_t>(settings.train.log_every) == 0 ||
         done % per_epoch == 0 ||
         saves_weights_after(step % per_epoch + 1, per_epoch,
                             settings.checkpoint.saves_per_epoch) ||
         done == static_cast<std::size_t>(settings.train.max_steps) ||
         (saved_every > 0 && done % saved_every == 0);
}

void ServerUpdates::share(FlatBuffer& numbers) {
  for (int server = 0; server < parts_.comm.ranks(); ++server) {
    const Range range = server_range(parts_.work.layout, server, parts_.comm.ranks());
    parts_.comm.broadcast(std::as_writable_bytes(numbers.view(range)), server);
  }
}

/// Gathers all ranges on the first server only, which writes checkpoints.
void ServerUpdates::gather(FlatBuffer& numbers) {
  std::vector<std::size_t> sizes;
  for (int server = 0; server < parts_.comm.ranks(); ++server) {
    const Range range = server_range(parts_.work.layout, server, parts_.comm.ranks());
    sizes.push_back(range.size() * sizeof(float));
  }
  const Range all = is_first() ? Range{0, numbers.size()} : Range{0, 0};
  parts_.comm.gather(std::as_bytes(std::span<const float>(numbers.view(own_))),
                     std::as_writable_bytes(numbers.view(all)), sizes, /*root=*/0);
}

/// Gradients and optimizer state of other ranges take no memory here except during a
/// checkpoint.
void ServerUpdates::keep_own_range() {
  if (!has_others()) return;
  gradients_.keep_only(own_);
  for (const OptimizerSlot& slot : parts_.rig.optimizer().slots())
    slot.numbers.keep_only(own_);
  for (const OptimizerSlot& slot : slots()) slot.numbers.keep_only(own_);
}

void ServerUpdates::synchronize() {
  if (std::exchange(synchronized_, true)) return;
  share_counts();
  if (parts_.comm.ranks() == 1) return;
  share(parts_.rig.values());
  gather(gradients_);
  for (const OptimizerSlot& slot : parts_.rig.optimizer().slots()) {
    // All servers hash the masters.
    slot.name == kMasterSlot ? share(slot.numbers) : gather(slot.numbers);
  }
  for (const OptimizerSlot& slot : slots()) gather(slot.numbers);
  const std::span<float> statistics =
      parts_.rig.statistics().view({0, parts_.rig.statistics().size()});
  parts_.comm.broadcast(std::as_writable_bytes(statistics), /*root=*/0);
}

void ServerUpdates::follow(std::span<const float> found, std::size_t microbatches) {
  if (!is_first()) return;
  update_running_stats(parts_.work.statistics_layout, found, microbatches,
                       parts_.rig.statistics());
}

void ServerUpdates::note(int worker, const Push& push) {
  const auto number = static_cast<std::size_t>(worker);
  slept_[number] += push.slept_seconds;
  longest_batch_ = std::max(longest_batch_, push.own_seconds + push.data_seconds);
  reports_[number] = {.own_seconds = push.own_seconds,
                      .data_seconds = push.data_seconds,
                      .exposed_seconds = push.exchange_seconds};
}

std::vector<std::string> ServerUpdates::finish(ExitCode code, const std::string& reason) {
  const double wait = std::min(kLeaveGrace + 2 * longest_batch_,
                               parts_.settings.cluster.operation_timeout);
  port_->finish({.over = true, .code = code, .reason = reason}, milliseconds_of(wait));
  return take_messages();
}

UpdateTelemetry ServerUpdates::telemetry() const {
  return {.exposed = seconds_waited_,
          .slept_by_worker = slept_,
          .worker_traffic = worker_traffic(),
          .summary_fields = {
              {"servers", parts_.comm.ranks()},
              {"bytes",
               {{"sent", port_->bytes_sent()}, {"received", port_->bytes_received()}}},
              {"slept_seconds", slept_}}};
}

}  // namespace convoy
