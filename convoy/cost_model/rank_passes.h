// SPDX-License-Identifier: Apache-2.0
//
// RankPasses: the computation of a rank, unit by unit, without exchanges.

#pragma once

#include <vector>

#include "convoy/cost_model/overlap.h"
#include "convoy/cost_model/step_cost.h"

namespace convoy {

class RankPasses {
 public:
  /// Borrows both for as long as it lives.
  RankPasses(const CostProfile& profile, const CostedJob& job);

  double forward(std::size_t unit) const { return units_[unit].forward; }
  double backward(std::size_t unit) const { return units_[unit].backward; }
  std::size_t units() const { return units_.size(); }

  /// The loader, if there is no spare core.
  double loading() const;
  /// The micro-batches before the last, and the loader.
  double before_last_microbatch() const;
  double forward_of_all() const;
  double all() const { return before_last_microbatch() + one_pass(); }

  OverlapOptions overlap_options() const;

 private:
  double one_pass() const;

  const CostProfile& profile_;
  const CostedJob& job_;
  std::vector<UnitSeconds> units_;
  double spare_;  // cores of the rank's share without a computing thread
};

/// The cost of a step that takes `step` seconds, of which `compute` are its own.
StepCost finished(double step, double compute, const Exchange& exchanged);

}  // namespace convoy
