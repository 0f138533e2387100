// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/step_cost.h"

#include <algorithm>
#include <numeric>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/cost_model/served_cost.h"
#include "convoy/params/buckets.h"

namespace convoy {
namespace {

/// Returns how many cores of a rank's share have no computing thread.
double spare_cores(const CostProfile& profile) {
  const double share = static_cast<double>(profile.cores) / profile.ranks;
  return std::max(0.0, share - profile.threads);
}

/// Returns the computation of a rank, unit by unit, without exchanges.
class Passes {
 public:
  Passes(const CostProfile& profile, const CostedJob& job)
      : profile_(profile),
        job_(job),
        units_(pass_of(profile, job.samples)),
        spare_(spare_cores(profile)) {}

  double forward(std::size_t unit) const { return units_[unit].forward; }
  double backward(std::size_t unit) const { return units_[unit].backward; }
  std::size_t units() const { return units_.size(); }

  /// Returns the time of the micro-batches before the last, and of the loader if there is
  /// no spare core.
  double before_last_microbatch() const {
    double pass = 0;
    for (const UnitSeconds& unit : units_) pass += unit.forward + unit.backward;
    const auto microbatches = static_cast<double>(job_.microbatches);
    const double adding =
        (microbatches - 1) * static_cast<double>(gradient_bytes(profile_)) * profile_.sum;
    const double loading =
        static_cast<double>(job_.samples) * microbatches * profile_.load;
    return (microbatches - 1) * pass + adding +
           std::max(0.0, 1 - spare_) * loading / profile_.threads;
  }

  double forward_of_all() const {
    return std::accumulate(
        units_.begin(), units_.end(), 0.0,
        [](double sum, const UnitSeconds& unit) { return sum + unit.forward; });
  }

  double all() const {
    double sum = before_last_microbatch();
    for (const UnitSeconds& unit : units_) sum += unit.forward + unit.backward;
    return sum;
  }

  OverlapOptions overlap_options() const {
    return {
        .threads = profile_.threads, .spare_cores = spare_, .handoff = profile_.handoff};
  }

 private:
  const CostProfile& profile_;
  const CostedJob& job_;
  std::vector<UnitSeconds> units_;
  double spare_;
};

StepCost finished(double step, double compute, const Exchange& exchanged) {
  return {.step = step,
          .compute = compute,
          .exposed = step - compute,
          .sent = exchanged.sent,
          .link_bytes = exchanged.link_bytes};
}

ExchangeCost exchanges(const CostProfile& profile, const CostedJob& job) {
  return {profile, job.cluster, job.partials};
}

StepCost single(const CostProfile& profile, const CostedJob& job) {
  CostedJob alone = job;
  alone.cluster = {};
  alone.microbatches = 1;
  alone.samples = job.batch;
  const double compute = Passes(profile, alone).all() + profile.update + profile.rest;
  return finished(compute, compute, {});
}

/// Exchanges tensor by tensor after backward; the small all-gather comes first.
template <class OfTensor>
StepCost after_backward(const CostProfile& profile, const CostedJob& job,
                        const OfTensor& of_tensor) {
  Exchange all = exchanges(profile, job).agreement(job.message_bytes);
  for (const UnitBytes& unit : profile.units) {
    for (const std::uint64_t bytes : unit.tensors) all += of_tensor(bytes);
  }
  all += of_tensor(profile.statistics_bytes);
  const double compute = Passes(profile, job).all() + profile.update + profile.rest;
  return finished(compute + all.seconds, compute, all);
}

StepCost gather_scatter(const CostProfile& profile, const CostedJob& job) {
  const ExchangeCost cost = exchanges(profile, job);
  return after_backward(profile, job,
                        [&](std::uint64_t bytes) { return cost.gather_scatter(bytes); });
}

template <Algorithm algorithm>
StepCost all_reduce(const CostProfile& profile, const CostedJob& job) {
  const ExchangeCost cost = exchanges(profile, job);
  return after_backward(profile, job, [&](std::uint64_t bytes) {
    return cost.all_reduce(bytes, algorithm);
  });
}

std::vector<std::uint64_t> unit_bytes(const CostProfile& profile) {
  std::vector<std::uint64_t> bytes;
  for (const UnitBytes& unit : profile.units) bytes.push_back(unit.bytes);
  return bytes;
}

/// The statistics are exchanged with the first bucket. The small all-gather comes last;
/// only the part that outlasts the update is waited for.
template <Algorithm algorithm>
StepCost ddp(const CostProfile& profile, const CostedJob& job) {
  const ExchangeCost cost = exchanges(profile, job);
  const Passes passes(profile, job);
  const bool alone = job.cluster.ranks() == 1;
  std::vector<Work> works = {
      {.seconds = passes.before_last_microbatch() + passes.forward_of_all()}};
  Exchange all;
  std::size_t unit = passes.units();
  for (const UnitBucket& bucket :
       cut_into_buckets(unit_bytes(profile), job.bucket_bytes)) {
    Work work;
    while (unit > bucket.units.begin) work.seconds += passes.backward(--unit);
    if (!alone) work.after.push_back(cost.all_reduce(bucket.bytes, algorithm));
    if (!alone && works.size() == 1 && profile.statistics_bytes > 0) {
      work.after.push_back(cost.all_reduce(profile.statistics_bytes, algorithm));
    }
    for (const Exchange& exchange : work.after) all += exchange;
    works.push_back(std::move(work));
  }
  const Exchange agreement = cost.agreement(job.message_bytes);
  all += agreement;
  const double update =
      std::max(profile.update, agreement.seconds) + agreement.busy + profile.rest;
  const double step = overlap(works, passes.overlap_options()).exchanged + update;
  return finished(step, passes.all() + profile.update + profile.rest, all);
}

/// Adds the computation with sharded values: each unit's values are gathered while the
/// previous unit is computed.
class ShardedWorks {
 public:
  ShardedWorks(const CostProfile& profile, const ExchangeCost& cost)
      : profile_(profile), cost_(cost) {}

  void add(std::size_t unit, double seconds, bool reduce) {
    Work work{.seconds = seconds};
    gather_up_to(position_ + 1, work);
    if (position_ + 1 < order_.size()) gather_up_to(position_ + 2, work);
    work.needs = gathered_at_[position_++];
    if (reduce) {
      work.after.push_back(count(cost_.reduce_scatter(profile_.units[unit].bytes)));
    }
    works.push_back(std::move(work));
  }

  void will_use(std::size_t unit) { order_.push_back(unit); }

  std::vector<Work> works;
  Exchange all;

 private:
  Exchange count(const Exchange& exchange) {
    ++started_;
    all += exchange;
    return exchange;
  }

  void gather_up_to(std::size_t uses, Work& work) {
    while (gathered_at_.size() < uses) {
      const std::size_t unit = order_[gathered_at_.size()];
      work.before.push_back(count(cost_.all_gather(profile_.units[unit].bytes)));
      gathered_at_.push_back(started_);
    }
  }

  const CostProfile& profile_;
  const ExchangeCost& cost_;
  std::vector<std::size_t> order_;  // units in the order of use
  // By use: number of exchanges started, including its gather.
  std::vector<std::size_t> gathered_at_;
  std::size_t position_ = 0, started_ = 0;
};

/// Gathers of micro-batches before the last are left out: a rank usually has one
/// micro-batch.
StepCost fsdp(const CostProfile& profile, const CostedJob& job) {
  const ExchangeCost cost = exchanges(profile, job);
  const Passes passes(profile, job);
  ShardedWorks sharded(profile, cost);
  const std::size_t units = passes.units();
  for (std::size_t u = 0; u < units; ++u) sharded.will_use(u);
  for (std::size_t u = units; u-- > 0;) sharded.will_use(u);
  sharded.works.push_back({.seconds = passes.before_last_microbatch()});
  for (std::size_t u = 0; u < units; ++u) sharded.add(u, passes.forward(u), false);
  for (std::size_t u = units; u-- > 0;) sharded.add(u, passes.backward(u), true);
  const Exchange agreement = cost.agreement(job.message_bytes);
  sharded.all += agreement;
  const double update = profile.update / job.cluster.ranks() + profile.rest;
  const double step = overlap(sharded.works, passes.overlap_options()).exchanged +
                      agreement.seconds + update;
  return finished(step, passes.all() + update, sharded.all);
}

StepCost ps_sync(const CostProfile& profile, const CostedJob& job) {
  return ps_sync_cost(profile, job, Passes(profile, job).all() + profile.rest);
}

StepCost ps_async(const CostProfile& profile, const CostedJob& job) {
  CostedJob whole = job;
  whole.microbatches = 1;
  whole.samples = job.batch;
  return ps_async_cost(profile, whole, Passes(profile, whole).all() + profile.rest);
}

struct Costed {
  std::string_view name;
  StepCost (*cost)(const CostProfile&, const CostedJob&);
  bool can_run = true;  // otherwise it is only predicted
};

constexpr Costed kCosted[] = {
    {"single", single},
    {"gather_scatter", gather_scatter},
    {"all_reduce", all_reduce<Algorithm::direct>},
    {"all_reduce/ring", all_reduce<Algorithm::ring>, /*can_run=*/false},
    {"all_reduce/tree", all_reduce<Algorithm::tree>, /*can_run=*/false},
    {"ddp", ddp<Algorithm::direct>},
    {"ddp/ring", ddp<Algorithm::ring>, /*can_run=*/false},
    {"ddp/tree", ddp<Algorithm::tree>, /*can_run=*/false},
    {"fsdp", fsdp, /*can_run=*/false},
    {"ps_sync", ps_sync},
    {"ps_async", ps_async}};

}  // namespace

std::vector<std::string> costed_strategies() {
  std::vector<std::string> names;
  for (const Costed& costed : kCosted) names.emplace_back(costed.name);
  return names;
}

bool can_run(std::string_view strategy) {
  const auto* costed = std::ranges::find(kCosted, strategy, &Costed::name);
  return costed != std::end(kCosted) && costed->can_run;
}

StepCost step_cost(std::string_view strategy, const CostProfile& profile,
                   const CostedJob& job) {
  const auto* costed = std::ranges::find(kCosted, strategy, &Costed::name);
  if (costed != std::end(kCosted)) return costed->cost(profile, job);
  throw InputError(InputKind::settings,
                   {.where = "strategy.name",
                    .found = std::string(strategy),
                    .expected = "a strategy whose steps can be predicted: " +
                                join(costed_strategies(), ", "),
                    .hint = "a new strategy needs a row in cost_model/step_cost.cpp"});
}

}  // namespace convoy
