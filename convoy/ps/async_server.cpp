// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/async_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

std::size_t async_server_bytes(const AsyncServerOptions& options, Range own) {
  const Compensation kind = options.compensation.kind;
  if (kind == Compensation::none) return 0;
  const std::size_t copies = options.batches.size() * own.size() * sizeof(float);
  return copies + DelayCompensation::bytes(kind, own);
}

AsyncServer::AsyncServer(const AsyncServerOptions& options, const ServedRange& served,
                         ThreadTeam& team)
    : options_(options),
      served_(served),
      team_(team),
      workers_(options.batches.size()),
      staleness_(options.batches.size()) {
  check(served.clip == nullptr || served.own == Range{0, served.layout.size()},
        "clipping needs the complete gradient");
  const bool compensates = options.compensation.kind != Compensation::none;
  if (compensates) compensation_.emplace(served.layout, options.compensation, team);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].batches = options.batches[i];
    if (compensates) workers_[i].copy = AlignedBuffer<float>(served.own.size());
  }
}

Assignment AsyncServer::pull(int worker) {
  Worker& puller = at(worker);
  if (is_done(puller)) {
    return {.over = true, .sequence = puller.done, .version = version_};
  }
  puller.pulled = version_;
  if (compensation_) keep_copy(puller);
  return {.sequence = puller.done, .version = version_};
}

/// The values must be copied: a reference to the live values would always show a
/// difference of zero.
void AsyncServer::keep_copy(Worker& worker) {
  const Range own = served_.own;
  const std::span<float> copy = worker.copy.span();
  run_chunks(team_, own, [&](Range chunk) {
    std::ranges::copy(
        served_.values.view(chunk),
        copy.begin() + static_cast<std::ptrdiff_t>(chunk.begin - own.begin));
  });
}

Applied AsyncServer::push(int worker, const Push& push, std::span<float> gradients,
                          const StepRates& rates) {
  Worker& pusher = at(worker);
  if (push.sequence < pusher.done) return {.result = PushResult::repeated};
  std::string why = fault_of(pusher, push);
  if (!why.empty()) return {.result = PushResult::refused, .why = std::move(why)};

  const std::uint64_t staleness = version_ - push.version;
  const double rate = scaled_rate(rates.rate, staleness);
  if (is_used(push)) {
    update(pusher, push, gradients, {.rate = rate, .momentum = rates.momentum});
  }
  advance(pusher);
  staleness_.add(worker, staleness);
  return {.staleness = staleness, .rate = rate};
}

std::string AsyncServer::fault_of(const Worker& worker, const Push& push) const {
  if (push.version > version_) {
    return fmt::format(
        "it was computed with version {} of the values, but the current version is {}",
        push.version, version_);
  }
  if (!(push.loss_scale > 0 && push.loss_scale <= LossScaler::kMost)) {
    return fmt::format("it was computed with loss scale {}", push.loss_scale);
  }
  if (!worker.pulled) {
    return fmt::format("it is for batch {}, but none is assigned", push.sequence);
  }
  if (push.sequence != worker.done) {
    return fmt::format("it is for batch {}, but {} is assigned", push.sequence,
                       worker.done);
  }
  if (push.version != *worker.pulled) {
    return fmt::format("it was computed with version {} of the values, but {} was pulled",
                       push.version, *worker.pulled);
  }
  return {};
}

double AsyncServer::scaled_rate(double rate, std::uint64_t staleness) const {
  if (!options_.scale_rate || staleness <= 1) return rate;
  return rate / static_cast<double>(staleness);
}

bool AsyncServer::is_used(const Push& push) {
  LossScaler* scaler = served_.scaler;
  return scaler == nullptr || scaler->take_in(push.is_finite, push.loss_scale);
}

void AsyncServer::update(const Worker& worker, const Push& push,
                         std::span<float> gradients, const StepRates& rates) {
  const auto& [layout, own, values, optimizer, clip, scaler] = served_;
  double times = push.loss_scale;
  if (compensation_) {
    // It is not linear, so it needs the gradients themselves.
    const auto factor = static_cast<float>(1 / std::exchange(times, 1));
    for (float& gradient : gradients) gradient *= factor;
    compensation_->compensate(own, values, worker.copy.span(), gradients);
  }
  const std::uint64_t skipped = scaler == nullptr ? 0 : scaler->state().skipped;
  optimizer.start_step(version_ - skipped, rates);
  OptimizerStep{optimizer, clip}.update(own, values, gradients, times);
}

void AsyncServer::advance(Worker& worker) {
  worker.pulled.reset();
  ++version_;
  const bool was_slowest = worker.is_connected && worker.done == slowest_;
  ++worker.done;
  if (was_slowest && --are_slowest_ == 0) find_slowest();
}

/// Iterates over all workers, so it is called only when the last of the slowest workers
/// advances, or the set of counted workers has changed.
void AsyncServer::find_slowest() {
  slowest_ = std::numeric_limits<std::uint64_t>::max();
  are_slowest_ = 0;
  for (const Worker& worker : workers_) {
    if (!worker.is_connected || is_done(worker)) continue;
    if (worker.done < slowest_) are_slowest_ = 0;
    slowest_ = std::min(slowest_, worker.done);
    if (worker.done == slowest_) ++are_slowest_;
  }
}

bool AsyncServer::may_pull(int worker) const {
  const Worker& asking = at(worker);
  if (!options_.max_staleness || is_done(asking) || are_slowest_ == 0) return true;
  return asking.done <= slowest_ || asking.done - slowest_ <= *options_.max_staleness;
}

void AsyncServer::set_connected(int worker, bool is_connected) {
  at(worker).is_connected = is_connected;
  find_slowest();
}

std::vector<std::uint64_t> AsyncServer::sequences() const {
  std::vector<std::uint64_t> found;
  for (const Worker& worker : workers_) found.push_back(worker.done);
  return found;
}

bool AsyncServer::is_done(int worker) const { return is_done(at(worker)); }

bool AsyncServer::is_done() const {
  return std::ranges::all_of(workers_, [](const Worker& each) { return is_done(each); });
}

void AsyncServer::restore(std::uint64_t version,
                          std::span<const std::uint64_t> sequences) {
  check(sequences.size() == workers_.size(), "one number per worker");
  version_ = version;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].done = sequences[i];
    workers_[i].pulled.reset();
  }
  find_slowest();
}

std::vector<OptimizerSlot> AsyncServer::slots() {
  return compensation_ ? compensation_->slots() : std::vector<OptimizerSlot>{};
}

AsyncServer::Worker& AsyncServer::at(int worker) {
  return workers_.at(static_cast<std::size_t>(worker));
}

const AsyncServer::Worker& AsyncServer::at(int worker) const {
  return workers_.at(static_cast<std::size_t>(worker));
}

}  // namespace convoy
