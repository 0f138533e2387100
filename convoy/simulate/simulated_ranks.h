// SPDX-License-Identifier: Apache-2.0
//
// SimulatedRanks: a synchronous strategy on a virtual cluster.
//
// The ranks together compute exactly what one rank computes with all micro-batches, bit
// for bit. So one rank does compute it, and only the time is simulated: that of the
// slowest rank, plus what the strategy's exchange adds.

#pragma once

#include "convoy/cost_model/step_cost.h"
#include "convoy/simulate/compute_times.h"
#include "convoy/updates/local_updates.h"

namespace convoy {

class SimulatedRanks final : public LocalUpdates {
 public:
  SimulatedRanks(const TrainingContext& parts, int ranks);

  NextUpdate next(const StepRequest& request) override;
  UpdateTelemetry telemetry() const override;

 private:
  StepCost cost() const;

  /// Simulates the time of an update, and the report of each rank.
  void take_time(std::size_t step, Update& update);
  std::string plan() const;

  TrainingContext parts_;
  std::string strategy_;  // of the virtual ranks
  ReductionOrder order_;  // over the virtual ranks
  ComputeTimes times_;
  std::vector<Delay> delays_;  // by rank
  StepCost cost_;
  VirtualClock clock_;
  std::vector<StepReport> reports_;  // by rank
  double exposed_ = 0;
  std::vector<double> slept_;  // by rank, total seconds
};

}  // namespace convoy
