// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/ps_sync.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/setup/precision.h"

namespace convoy {

PsSync::PsSync(const TrainingContext& parts, const ServiceOptions& service)
    : ServerUpdates(parts, service),
      order_(microbatch_count(parts.settings, service.workers), service.workers),
      pushed_(workers()),
      kept_(2 * workers()) {
  const auto batch = static_cast<std::size_t>(parts.settings.train.batch_size);
  const std::size_t samples =
      samples_of_microbatches(parts.settings, parts.work, order_.microbatches());
  describe({.strategy = choice_name(StrategyChoice::ps_sync),
            .steps_per_epoch = (samples + batch - 1) / batch,
            .samples_per_epoch = samples,
            .microbatches = order_.microbatches(),
            .workers = workers(),
            .memory = memory(),
            .plan = plan(),
            .gradients = &gradients_,
            .own_values = own_values()});
}

std::vector<std::size_t> PsSync::partials() const {
  std::vector<std::size_t> counts;
  for (int worker = 0; worker < order_.ranks(); ++worker) {
    counts.push_back(order_.partials_of(worker).size());
  }
  return counts;
}

std::vector<std::size_t> PsSync::microbatches_by_worker() const {
  std::vector<std::size_t> counts;
  for (int worker = 0; worker < order_.ranks(); ++worker) {
    counts.push_back(order_.microbatches_of(worker).count());
  }
  return counts;
}

void PsSync::assign(int worker, std::size_t step) {
  assign_values(worker, {.sequence = step, .version = step});
}

NextUpdate PsSync::next(const StepRequest& request) {
  const std::size_t step = request.position.step;
  for (const int worker : std::exchange(waiting_, {})) assign(worker, step);
  std::ranges::fill(pushed_, std::nullopt);
  while (!all_there()) {
    if (const auto arrival = next_arrival(request)) {
      take(*arrival, step);
    } else if (should_stop(request)) {
      return NoMoreUpdates{};
    } else {
      check_liveness();
    }
  }
  // No server updates before all have all pushes: otherwise a worker that dies before the
  // last server has its push could not compute the batch again with the same values.
  meet([&] { parts_.comm.barrier(); },
       [&] {
         while (const auto arrival = waiting_arrival()) take(*arrival, step);
       });
  Update made{.rate = request.rates.rate, .reports = reports()};
  made.loss = update(request);
  made.diverged = parts_.rig.is_diverged(made.loss.loss);
  made.seconds = since_update_.seconds();
  since_update_.restart();
  agree(request, made);
  return made;
}

/// A worker that joins again after its push is not asked for it again, unless another
/// server may lack it.
void PsSync::take(const Arrival& arrival, std::size_t step) {
  auto& pushed = pushed_[static_cast<std::size_t>(arrival.worker)];
  if (arrival.kind == Arrival::Kind::lost) {
    std::erase(waiting_, arrival.worker);
  } else if (arrival.kind == Arrival::Kind::joined && pushed && has_others()) {
    ask_again(arrival.worker, step);
  } else if (arrival.kind == Arrival::Kind::joined && pushed) {
    waiting_.push_back(arrival.worker);
  } else if (arrival.kind == Arrival::Kind::joined || arrival.push.sequence < step) {
    assign(arrival.worker, step);
  } else if (arrival.push.sequence > step || arrival.push.version != step) {
    port().refuse(arrival.worker,
                  fmt::format("a push of batch {} from version {}, expected {}",
                              arrival.push.sequence, arrival.push.version, step));
  } else {
    waiting_.push_back(arrival.worker);
    if (pushed) return;  // it was asked again; the numbers are the same
    pushed = arrival;
    note(arrival.worker, arrival.push);
  }
}

/// The worker may send the same numbers again to this memory, perhaps while they are
/// added, so they are copied.
void PsSync::ask_again(int worker, std::size_t step) {
  Arrival& pushed = *pushed_[static_cast<std::size_t>(worker)];
  auto& gradients = kept_[2 * static_cast<std::size_t>(worker)];
  auto& statistics = kept_[2 * static_cast<std::size_t>(worker) + 1];
  if (pushed.gradients.data() != gradients.data()) {
    gradients.assign(pushed.gradients.begin(), pushed.gradients.end());
    statistics.assign(pushed.statistics.begin(), pushed.statistics.end());
    pushed.gradients = gradients;
    pushed.statistics = statistics;
  }
  assign(worker, step);
}

bool PsSync::all_there() const {
  return std::ranges::all_of(pushed_, [](const auto& push) { return push.has_value(); });
}

void PsSync::check_liveness() const {
  const ClusterSettings& cluster = parts_.settings.cluster;
  for (int worker = 0; worker < order_.ranks(); ++worker) {
    const bool came = liveness_.has_connected(worker);
    const double limit = came ? cluster.operation_timeout : cluster.timeout;
    if (liveness_.seconds_missing(worker) < limit) continue;
    throw PeerError(parts_.comm.ranks() + worker,
                    fmt::format("worker {} has not joined{} for {:.0f} s", worker,
                                came ? " again" : "", limit));
  }
}

/// Workers have contiguous micro-batches in order, so their partials are in the tree's
/// order.
void PsSync::add(std::span<const std::span<const float>> pushed,
                 std::span<float> sum) const {
  std::vector<const float*> partials;
  for (const std::span<const float> numbers : pushed) {
    for (std::size_t at = 0; at < numbers.size(); at += sum.size()) {
      partials.push_back(numbers.data() + at);
    }
  }
  order_.add(partials, sum);
}

/// A partial has what is trained of the server's range, one range after the other.
void PsSync::add_gradients(std::span<const std::span<const float>> pushed) {
  const std::size_t size = pushed_size();
  std::size_t from = 0;
  for (const Range& range : trained()) {
    std::vector<const float*> partials;
    for (const std::span<const float> numbers : pushed) {
      for (std::size_t at = from; at < numbers.size(); at += size) {
        partials.push_back(numbers.data() + at);
      }
    }
    order_.add(partials, gradients_.view(range), gradient_dtype(parts_.settings));
    from += range.size();
  }
}

/// Whether the gradients of all servers' ranges are.
bool PsSync::are_finite(const StepRequest& request) {
  bool all = all_finite(gradients_.view(own_), parts_.rig.team());
  const std::size_t step = request.position.step;
  meet([&] { all = all_servers(all); },
       [&] {
         while (const auto arrival = waiting_arrival()) take(*arrival, step);
       });
  return all;
}

LossSum PsSync::update(const StepRequest& request) {
  LossSum loss;
  std::vector<std::span<const float>> gradients, statistics;
  for (const auto& arrival : pushed_) {
    gradients.push_back(arrival->gradients);
    for (const LossSum& microbatch : arrival->push.microbatches) loss += microbatch;
  }
  add_gradients(gradients);
  const OptimizerStep step = parts_.rig.step();
  const double times = step.scale();
  parts_.rig.start_step(request.position.step, request.rates);
  if (step.scaler == nullptr || step.scaler->take_in(are_finite(request))) {
    step.update(own_, parts_.rig.values(), gradients_.view(own_), times);
  }
  if (is_first() && parts_.rig.statistics().size() > 0) {
    // Not before: while servers meet, a worker that comes again has its push copied.
    for (const auto& arrival : pushed_) statistics.push_back(arrival->statistics);
    std::vector<float> found(parts_.rig.statistics().size());
    add(statistics, found);
    follow(found, std::min(loss.samples, order_.microbatches()));
  }
  return loss;
}

UpdateMemory PsSync::memory() const {
  return {.gradients = own_.size() * sizeof(float) + port_bytes(),
          .slot = own_.size() * sizeof(float)};
}

std::string PsSync::plan() const {
  return fmt::format(
      "cluster   {} worker{}, {} server{}, strategy {}, {} of {} parameters here\n"
      "batch     {} samples per update in {} micro-batch{}: the same bits as on one "
      "rank\n",
      workers(), workers() == 1 ? "" : "s", parts_.comm.ranks(),
      parts_.comm.ranks() == 1 ? "" : "s", choice_name(StrategyChoice::ps_sync),
      with_commas(own_.size()), with_commas(parts_.work.layout.size()),
      parts_.settings.train.batch_size, order_.microbatches(),
      order_.microbatches() == 1 ? "" : "es");
}

}  // namespace convoy
