// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/ps_async.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {

PsAsync::PsAsync(const TrainingContext& parts, const ServiceOptions& service)
    : ServerUpdates(parts, service),
      schedule_(parts.settings, parts.work, service.workers),
      server_(async_server_options(parts.settings, schedule_),
              {parts.work.layout, own_, parts.rig.values(), parts.rig.optimizer(),
               parts.rig.clip(), parts.rig.scaler()},
              parts.rig.team()),
      pushes_(workers() * static_cast<std::size_t>(parts.comm.ranks())) {
  const auto batch = static_cast<std::size_t>(parts.settings.train.batch_size);
  describe({.strategy = choice_name(StrategyChoice::ps_async),
            .steps_per_epoch = schedule_.per_epoch(),
            .samples_per_epoch = schedule_.per_epoch() * batch,
            .microbatches = schedule_.microbatches,
            .workers = workers(),
            .memory = memory(),
            .plan = plan(),
            .gradients = &gradients_,
            .own_values = own_values()});
}

std::vector<std::size_t> PsAsync::partials() const {
  return std::vector<std::size_t>(workers(), 1);
}

std::vector<std::size_t> PsAsync::microbatches_by_worker() const {
  return std::vector<std::size_t>(workers(), schedule_.microbatches);
}

NextUpdate PsAsync::next(const StepRequest& request) {
  while (true) {
    const auto arrival = next_arrival(request);
    if (!arrival) {
      if (should_stop(request)) return NoMoreUpdates{};
      if (const auto missing = missing_workers()) return NoMoreUpdates{*missing};
    } else if (arrival->kind != Arrival::Kind::push) {
      receive(*arrival);
    } else if (auto update = apply(*arrival, request)) {
      return *std::move(update);
    }
  }
}

void PsAsync::attend() {
  while (const auto arrival = waiting_change()) receive(*arrival);
}

/// Handles a worker that joins or is lost. A worker that has done all batches here may
/// have died before another server had its last batch; then it does that batch again.
void PsAsync::receive(const Arrival& arrival) {
  const int worker = arrival.worker;
  const bool joined = arrival.kind == Arrival::Kind::joined;
  server_.set_connected(worker, joined);
  std::erase(waiting_, worker);
  if (joined && has_others() && server_.is_done(worker)) {
    const std::uint64_t done = server_.sequences()[static_cast<std::size_t>(worker)];
    assign_values(worker, {.sequence = done - 1, .version = server_.version()});
  } else if (joined && !server_.is_done(worker)) {
    // Assigned at once, however far ahead it is: another server may wait for the batch it
    // lacks.
    assign_values(worker, server_.pull(worker));
  }
  release_waiting();
}

/// Returns the gradients of the server's range: as they were pushed, if all of it is
/// trained.
std::span<float> PsAsync::unpacked(std::span<float> pushed) {
  if (pushed.size() == own_.size()) return pushed;
  for (const Range& range : trained()) {
    std::ranges::copy(pushed.first(range.size()), gradients_.view(range).begin());
    pushed = pushed.subspan(range.size());
  }
  return gradients_.view(own_);
}

std::optional<Update> PsAsync::apply(const Arrival& arrival, const StepRequest& request) {
  const int worker = arrival.worker;
  const std::span<float> gradients = unpacked(arrival.gradients);
  const Applied applied = server_.push(worker, arrival.push, gradients, request.rates);
  if (applied.result == PushResult::refused) {
    port().refuse(worker, applied.why);
    return std::nullopt;
  }
  if (applied.result == PushResult::repeated) {
    give_work(worker);
    return std::nullopt;
  }
  Update made{.rate = applied.rate, .first_reporter = static_cast<std::size_t>(worker)};
  for (const LossSum& microbatch : arrival.push.microbatches) made.loss += microbatch;
  follow(arrival.statistics, std::min(made.loss.samples, schedule_.microbatches));
  note(worker, arrival.push);
  const bool unpacked = gradients.data() == gradients_.view(own_).data();
  if (!unpacked && meets_after(request.position.step)) {
    std::ranges::copy(gradients, gradients_.view(own_).begin());
  }
  give_work(worker);
  release_waiting();
  made.reports = reports().subspan(made.first_reporter, 1);
  made.diverged = parts_.rig.is_diverged(made.loss.loss);
  made.seconds = since_update_.seconds();
  since_update_.restart();
  if (request.is_recorded) made.fields = take_staleness_fields(server_.staleness());
  agree(request, made);
  return made;
}

/// Workers that are too far ahead wait; workers that have done all batches wait for the
/// end of the run, so that all end alike.
void PsAsync::give_work(int worker) {
  if (server_.is_done(worker)) return;
  if (!server_.may_pull(worker)) {
    waiting_.push_back(worker);
    return;
  }
  assign_values(worker, server_.pull(worker));
}

void PsAsync::release_waiting() {
  for (const int worker : std::exchange(waiting_, {})) give_work(worker);
}

/// Returns the workers with batches left, if all of them have been missing for too long.
/// The others do not wait for them, but at the end no other worker is left.
std::optional<std::string> PsAsync::missing_workers() const {
  const ClusterSettings& cluster = parts_.settings.cluster;
  std::string missing;
  bool any_connected = false;
  for (int worker = 0; worker < static_cast<int>(workers()); ++worker) {
    const bool came = liveness_.has_connected(worker);
    any_connected = any_connected || came;
    if (server_.is_done(worker)) continue;
    const double limit = came ? cluster.operation_timeout : cluster.timeout;
    if (liveness_.seconds_missing(worker) < limit) return std::nullopt;
    missing += fmt::format("{}worker {}", missing.empty() ? "" : ", ", worker);
  }
  if (missing.empty()) return std::nullopt;
  if (!any_connected) throw PeerError(parts_.comm.ranks(), "no worker has joined");
  missing += " did not join again";
  // Servers leave at different steps.
  if (has_others()) throw PeerError(kAnyRank, missing);
  return missing;
}

/// Servers with the same number of updates may have applied different pushes.
void PsAsync::share_counts() {
  const std::vector<std::uint64_t> own = server_.sequences();
  parts_.comm.all_gather(std::as_bytes(std::span(own)),
                         std::as_writable_bytes(std::span(pushes_)));
}

nlohmann::ordered_json PsAsync::state() const {
  return {{"workers", workers()}, {"pushes", pushes_}};
}

/// Returns the pushes of a checkpoint, [server][worker]; nothing if it is not of such a
/// run.
std::vector<std::uint64_t> PsAsync::pushes_in(const nlohmann::ordered_json& state,
                                              std::size_t step) const {
  try {
    if (!state.is_object() || state.at("workers") != workers()) return {};
    const auto pushes = state.at("pushes").get<std::vector<std::uint64_t>>();
    if (pushes.size() != pushes_.size()) return {};
    for (std::size_t first = 0; first < pushes.size(); first += workers()) {
      const auto of_server = std::span(pushes).subspan(first, workers());
      if (std::reduce(of_server.begin(), of_server.end()) != step) return {};
    }
    return pushes;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void PsAsync::restore(const nlohmann::ordered_json& state, std::size_t step) {
  const std::vector<std::uint64_t> pushes = pushes_in(state, step);
  if (pushes.empty()) {
    throw InputError(
        InputKind::settings,
        {.where = "train.resume",
         .found = fmt::format("{} workers and {} servers of ps_async", workers(),
                              parts_.comm.ranks()),
         .expected = "the strategy, the workers and the servers that the run had",
         .hint = "each worker and server resumes its own state: -n and ps.servers stay "
                 "the same"});
  }
  pushes_ = pushes;
  const auto own = static_cast<std::size_t>(parts_.comm.rank()) * workers();
  server_.restore(step, std::span(pushes_).subspan(own, workers()));
}

UpdateMemory PsAsync::memory() const {
  const std::size_t copies =
      async_server_bytes(async_server_options(parts_.settings, schedule_), own_);
  return {.gradients = own_.size() * sizeof(float) + port_bytes() + copies,
          .slot = own_.size() * sizeof(float)};
}

std::string PsAsync::plan() const {
  const PsSettings& ps = parts_.settings.ps;
  return fmt::format(
      "cluster   {} worker{}, {} server{}, strategy {}, partition {}, staleness bound "
      "{}\n"
      "batch     {} samples per push, one update per push; compensation {}\n",
      workers(), workers() == 1 ? "" : "s", parts_.comm.ranks(),
      parts_.comm.ranks() == 1 ? "" : "s", choice_name(StrategyChoice::ps_async),
      choice_name(parts_.settings.data.partition), ps.max_staleness,
      parts_.settings.train.batch_size, choice_name(ps.compensation));
}

UpdateTelemetry PsAsync::telemetry() const {
  UpdateTelemetry telemetry = ServerUpdates::telemetry();
  telemetry.summary_fields["staleness"] = staleness_json(server_.staleness());
  return telemetry;
}

}  // namespace convoy
