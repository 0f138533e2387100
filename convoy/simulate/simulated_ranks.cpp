// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/simulated_ranks.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/setup/precision.h"
#include "convoy/simulate/costed_job.h"

namespace convoy {
namespace {

/// Settings of a single rank that computes the micro-batches of all ranks, without
/// delays.
LocalUpdateOptions alone(const Settings& settings, int ranks) {
  return {.strategy = choice_name(StrategyChoice::single),
          .microbatches = microbatch_count(settings, ranks),
          .delay = Delay({}, settings.train.seed, /*rank=*/0)};
}

/// A profile whose times are computed from FLOPs: backward takes two forwards.
CostProfile profile_of(const Workload& work, double sample_seconds, std::size_t batch,
                       Dtype gradients) {
  const std::size_t number = bytes_of(gradients);
  CostProfile profile{.model = work.model.name};
  profile.units.resize(work.layout.unit_count());
  std::vector<double> flops(work.layout.unit_count());
  double all = 0;
  for (const LayerInfo& layer : describe(work.model)) {
    flops[layer.unit] += static_cast<double>(layer.description.flops);
    all += static_cast<double>(layer.description.flops);
  }
  for (const Segment& segment : work.layout.segments()) {
    if (!segment.trained) continue;
    UnitBytes& unit = profile.units[static_cast<std::size_t>(segment.unit)];
    unit.tensors.push_back(segment.range.size() * number);
  }
  for (std::size_t u = 0; u < work.layout.unit_count(); ++u) {
    for (const Range& range : work.layout.trained_in(work.layout.unit(UnitId{u}))) {
      profile.units[u].bytes += range.size() * number;
    }
  }
  profile.statistics_bytes = work.statistics_layout.trained_size() * sizeof(float);
  for (const std::size_t samples : {std::size_t{1}, std::max<std::size_t>(2, batch)}) {
    PassSeconds pass{.samples = samples};
    for (const double of_unit : flops) {
      const double part = of_unit / all / 3 * sample_seconds;
      const double forward = part * static_cast<double>(samples);
      pass.units.push_back({.forward = forward, .backward = 2 * forward});
    }
    profile.passes.push_back(pass);
  }
  return profile;
}

}  // namespace

SimulatedRanks::SimulatedRanks(const TrainingContext& parts, int ranks)
    : LocalUpdates(parts, alone(parts.settings, ranks)),
      parts_(parts),
      strategy_(strategy_name(parts.settings, ranks)),
      order_(description().microbatches, ranks),
      times_(parts.settings.sim, sample_seconds(parts.settings, parts.work.model),
             parts.settings.train.seed),
      cost_(cost()),
      reports_(static_cast<std::size_t>(ranks)),
      slept_(static_cast<std::size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) {
    delays_.push_back(make_delay(parts.settings, rank, ranks));
  }
  UpdateDescription described = description();
  described.strategy = strategy_;
  described.workers = delays_.size();
  described.plan = plan();
  described.clock = &clock_;
  describe(described);
}

/// Returns the time that the exchange adds to a step, if all ranks are equally fast.
StepCost SimulatedRanks::cost() const {
  const Settings& settings = parts_.settings;
  const auto batch = static_cast<std::size_t>(settings.train.batch_size);
  const CostProfile profile =
      profile_of(parts_.work, sample_seconds(settings, parts_.work.model), batch,
                 gradient_dtype(settings));
  const double bandwidth = settings.sim.bandwidth_gbps * 1e9 / 8;
  const double server = settings.sim.server_gbps * 1e9 / 8;
  const Cluster cluster{.machines = order_.ranks(),
                        .latency = settings.sim.latency_us * 1e-6,
                        .bandwidth = bandwidth,
                        .server_bandwidth = server > 0 ? server : bandwidth};
  return step_cost(strategy_, profile,
                   costed_job(settings, cluster, order_,
                              Microbatches::most_samples(batch, order_.microbatches())));
}

NextUpdate SimulatedRanks::next(const StepRequest& request) {
  NextUpdate next = LocalUpdates::next(request);
  if (auto* update = std::get_if<Update>(&next)) {
    take_time(request.position.step, *update);
  }
  return next;
}

void SimulatedRanks::take_time(std::size_t step, Update& update) {
  double slowest = 0;
  for (int rank = 0; rank < order_.ranks(); ++rank) {
    const MicrobatchPart part = order_.microbatches_of(rank);
    const double computing =
        times_.seconds(rank, step, part.sample_count(update.loss.samples));
    const double slept = delays_[static_cast<std::size_t>(rank)].seconds(step, computing);
    StepReport& report = reports_[static_cast<std::size_t>(rank)];
    report = {.own_seconds = computing + slept,
              .exposed_seconds = cost_.exposed,
              .bytes_sent = cost_.sent};
    slowest = std::max(slowest, report.own_seconds);
    slept_[static_cast<std::size_t>(rank)] += slept;
  }
  for (StepReport& report : reports_) {
    report.exposed_seconds += slowest - report.own_seconds;
  }
  exposed_ += reports_.front().exposed_seconds;
  update.seconds = slowest + cost_.exposed;
  clock_.advance_to(clock_.seconds() + update.seconds);
  update.reports = reports_;
}

std::string SimulatedRanks::plan() const {
  const Settings& settings = parts_.settings;
  return fmt::format(
      "cluster   {} virtual rank{}, strategy {}\n"
      "clock     virtual: {:.4g} ms per batch alone ({}), {:.4g} us, {:.4g} Gbit/s; the "
      "exchange adds {:.4g} ms\n"
      "batch     {} samples per update in {} micro-batches: the same bits as on real "
      "ranks\n",
      order_.ranks(), order_.ranks() == 1 ? "" : "s", strategy_,
      batch_milliseconds(settings, parts_.work.model),
      choice_name(settings.sim.compute_kind), settings.sim.latency_us,
      settings.sim.bandwidth_gbps, cost_.exposed * 1e3, settings.train.batch_size,
      order_.microbatches());
}

UpdateTelemetry SimulatedRanks::telemetry() const {
  return {.exposed = exposed_,
          .slept_by_worker = slept_,
          .summary_fields = {{"simulated", true},
                             {"virtual_seconds", clock_.seconds()},
                             {"bytes_sent_a_step", cost_.sent}}};
}

}  // namespace convoy
