// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/step_cost.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/cost_model/fsdp_cost.h"
#include "convoy/cost_model/rank_passes.h"
#include "convoy/cost_model/served_cost.h"
#include "convoy/params/buckets.h"

namespace convoy {
namespace {

ExchangeCost exchanges(const CostProfile& profile, const CostedJob& job) {
  return {profile, job.cluster, job.partials};
}

StepCost single(const CostProfile& profile, const CostedJob& job) {
  CostedJob alone = job;
  alone.cluster = {};
  alone.microbatches = 1;
  alone.samples = job.batch;
  const double compute = RankPasses(profile, alone).all() + profile.update + profile.rest;
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
  const double compute = RankPasses(profile, job).all() + profile.update + profile.rest;
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
  const RankPasses passes(profile, job);
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

StepCost ps_sync(const CostProfile& profile, const CostedJob& job) {
  return ps_sync_cost(profile, job, RankPasses(profile, job).all() + profile.rest);
}

StepCost ps_async(const CostProfile& profile, const CostedJob& job) {
  CostedJob whole = job;
  whole.microbatches = 1;
  whole.samples = job.batch;
  return ps_async_cost(profile, whole, RankPasses(profile, whole).all() + profile.rest);
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
    {"fsdp", fsdp_cost},
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
