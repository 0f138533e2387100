// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/fsdp_cost.h"

#include <algorithm>
#include <optional>

#include "convoy/cost_model/rank_passes.h"

namespace convoy {
namespace {

/// One unit's forward or backward.
struct Use {
  std::size_t unit = 0;
  double seconds = 0;
  bool gathers = false;      // its values, before
  bool reduces = false;      // its gradients, afterwards
  bool ends_a_half = false;  // the next use is not gathered meanwhile
};

/// Returns all passes of a step. The last unit stays from forward to backward.
std::vector<Use> uses_of(const RankPasses& passes, const CostedJob& job) {
  std::vector<Use> uses;
  const std::size_t units = passes.units();
  const FsdpCosted& fsdp = job.fsdp;
  for (std::size_t pass = 0; pass < job.microbatches; ++pass) {
    const bool is_last = pass + 1 == job.microbatches;
    const bool gathers = fsdp.shards_values && (fsdp.reshards || pass == 0);
    for (std::size_t u = 0; u < units; ++u) {
      uses.push_back({u, passes.forward(u), gathers, false, u + 1 == units});
    }
    for (std::size_t u = units; u-- > 0;) {
      const bool again = fsdp.shards_values && fsdp.reshards && u + 1 < units;
      uses.push_back(
          {u, passes.backward(u), again, fsdp.shards_gradients || is_last, u == 0});
    }
  }
  return uses;
}

/// Makes the computations of the uses, with the exchanges that they start and need.
class Timeline {
 public:
  Timeline(const CostProfile& profile, const ExchangeCost& cost,
           const std::vector<Use>& uses)
      : profile_(profile), cost_(cost), uses_(uses), gathered_(uses.size()) {}

  std::vector<Work> works(bool prefetch) {
    std::vector<Work> works;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      Work work{.seconds = uses_[i].seconds};
      gather(i, work);
      if (prefetch && !uses_[i].ends_a_half) gather(i + 1, work);
      work.needs = std::max(gathered_[i].value_or(0), reduced_before_);
      if (uses_[i].reduces) reduce(i, work);
      works.push_back(std::move(work));
    }
    return works;
  }

  const Exchange& all() const { return all_; }

 private:
  Exchange count(const Exchange& exchange) {
    ++started_;
    all_ += exchange;
    return exchange;
  }

  void gather(std::size_t use, Work& work) {
    if (!uses_[use].gathers || gathered_[use]) return;
    work.before.push_back(count(cost_.all_gather(bytes(use))));
    gathered_[use] = started_;
  }

  /// A unit's sum begins when that of the unit before is complete.
  void reduce(std::size_t use, Work& work) {
    reduced_before_ = reduced_;
    work.after.push_back(count(cost_.reduce_scatter(bytes(use))));
    reduced_ = started_;
  }

  std::uint64_t bytes(std::size_t use) const {
    return profile_.units[uses_[use].unit].bytes;
  }

  const CostProfile& profile_;
  const ExchangeCost& cost_;
  const std::vector<Use>& uses_;
  /// By use: the number of exchanges started, including its gather.
  std::vector<std::optional<std::size_t>> gathered_;
  std::size_t started_ = 0, reduced_ = 0, reduced_before_ = 0;
  Exchange all_;
};

}  // namespace

StepCost fsdp_cost(const CostProfile& profile, const CostedJob& job) {
  const FsdpCosted& fsdp = job.fsdp;
  const ExchangeCost cost(profile, job.cluster, fsdp.shards_gradients ? 1 : job.partials);
  const RankPasses passes(profile, job);
  const std::vector<Use> uses = uses_of(passes, job);
  Timeline timeline(profile, cost, uses);
  std::vector<Work> works = timeline.works(fsdp.prefetches);
  works.insert(works.begin(), {.seconds = passes.loading()});
  Exchange after = cost.agreement(job.message_bytes);
  for (const UnitBytes& unit : profile.units) {
    if (!fsdp.shards_values) after += cost.all_gather(unit.bytes);
  }
  if (profile.statistics_bytes > 0) {
    after += cost.all_reduce(profile.statistics_bytes, Algorithm::direct);
  }
  Exchange all = timeline.all();
  all += after;
  const double update = profile.update / job.cluster.ranks() + profile.rest;
  const double step =
      overlap(works, passes.overlap_options()).exchanged + after.seconds + update;
  double compute = passes.loading() + update;
  for (const Use& use : uses) compute += use.seconds;
  return finished(step, compute, all);
}

}  // namespace convoy
