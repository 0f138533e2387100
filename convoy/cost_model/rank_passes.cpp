// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/rank_passes.h"

#include <algorithm>
#include <numeric>

namespace convoy {
namespace {

double spare_cores(const CostProfile& profile) {
  const double share = static_cast<double>(profile.cores) / profile.ranks;
  return std::max(0.0, share - profile.threads);
}

}  // namespace

RankPasses::RankPasses(const CostProfile& profile, const CostedJob& job)
    : profile_(profile),
      job_(job),
      units_(pass_of(profile, job.samples)),
      spare_(spare_cores(profile)) {}

double RankPasses::loading() const {
  const double loading =
      static_cast<double>(job_.samples * job_.microbatches) * profile_.load;
  return std::max(0.0, 1 - spare_) * loading / profile_.threads;
}

double RankPasses::before_last_microbatch() const {
  const auto before = static_cast<double>(job_.microbatches - 1);
  const double adding =
      before * static_cast<double>(gradient_bytes(profile_)) * profile_.sum;
  return before * one_pass() + adding + loading();
}

double RankPasses::forward_of_all() const {
  return std::accumulate(
      units_.begin(), units_.end(), 0.0,
      [](double sum, const UnitSeconds& unit) { return sum + unit.forward; });
}

double RankPasses::one_pass() const {
  double sum = 0;
  for (const UnitSeconds& unit : units_) sum += unit.forward + unit.backward;
  return sum;
}

OverlapOptions RankPasses::overlap_options() const {
  return {
      .threads = profile_.threads, .spare_cores = spare_, .handoff = profile_.handoff};
}

StepCost finished(double step, double compute, const Exchange& exchanged) {
  return {.step = step,
          .compute = compute,
          .exposed = step - compute,
          .sent = exchanged.sent,
          .link_bytes = exchanged.link_bytes};
}

}  // namespace convoy
