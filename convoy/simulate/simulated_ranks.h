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

class SimulatedRanks final : public LocalUpdates {
 public:
  SimulatedRanks(const TrainingContext& parts, int ranks);

  NextUpdate next(const StepRequest& request) override;
  UpdateTelemetry telemetry() const override;

 private:
  StepCost cost() const;

  /// Makes up the time of an update, and what each rank says of it.
  void take_time(std::size_t step, Update& update);
  std::string plan() const;

  TrainingContext parts_;
  std::string strategy_;  // of the virtual ranks
  ReductionOrder order_;  // over them
  ComputeTimes times_;
  std::vector<Delay> delays_;  // by rank
  StepCost cost_;
  VirtualClock clock_;
  std::vector<StepReport> reports_;  // by rank
  double exposed_ = 0;
  std::vector<double> slept_;  // by rank, in all
};

}  // namespace convoy
