// SPDX-License-Identifier: Apache-2.0
//
// SimulatedRanks: a synchronous strategy on the ranks of a virtual cluster.
//
// What they compute together is what one rank computes with all micro-batches, to the
// bit; so that is done, and only the time is made up: the slowest rank's, and what the
// exchange of the strategy adds to it.

#pragma once

#include "convoy/cost_model/step_cost.h"
#include "convoy/simulate/compute_times.h"
#include "convoy/updates/local_updates.h"

namespace convoy {

class SimulatedRanks final : public UpdateSource {
 public:
  SimulatedRanks(const TrainingContext& parts, int ranks);

  std::string strategy() const override { return strategy_; }
  std::size_t per_epoch() const override { return local_.per_epoch(); }
  std::size_t samples_per_epoch() const override { return local_.samples_per_epoch(); }
  std::size_t microbatches() const override { return local_.microbatches(); }
  std::size_t workers() const override { return delays_.size(); }

  void begin() override { local_.begin(); }
  void start_epoch(int epoch, std::size_t first) override {
    local_.start_epoch(epoch, first);
  }
  std::optional<Update> make(const StepRequest& order) override;
  const FlatBuffer& gradients() override { return local_.gradients(); }
  void update_bn(int epoch, std::size_t step, const FlatBuffer& values,
                 FlatBuffer& statistics) override {
    local_.update_bn(epoch, step, values, statistics);
  }

  const Clock& clock() const override { return clock_; }
  UpdateSeconds seconds() const override { return {.exposed = exposed_}; }
  std::vector<double> slept_by_worker() const override { return slept_; }
  UpdateMemory memory() const override { return local_.memory(); }
  std::string plan() const override;
  nlohmann::ordered_json summary_fields() const override;

 private:
  StepCost cost() const;

  Settings alone_;  // those of the one rank that computes it all
  TrainingContext parts_;
  std::string strategy_;
  ReductionOrder order_;
  LocalUpdates local_;
  ComputeTimes times_;
  std::vector<Delay> delays_;  // by rank
  StepCost cost_;
  VirtualClock clock_;
  std::vector<StepReport> reports_;  // by rank
  double exposed_ = 0;
  std::vector<double> slept_;  // by rank, in all
};

}  // namespace convoy
