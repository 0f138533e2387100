// SPDX-License-Identifier: Apache-2.0
//
// MasterValues: an optimizer of values that are stored in 16 bits.
//
//   masters (fp32)  <- the optimizer's update
//   values          <- masters, rounded: what the network computes with and ranks
//   exchange
//
// A step is often smaller than half the distance to the next number of 16 bits, so values
// that were updated themselves would not move. Masters are part of the optimizer's state,
// a slot of it: a checkpoint keeps them, and ranks that divide the state divide them.
// Parameters of norms are not rounded (params/stored_types.h). Frozen parameters are
// rounded once: their masters are their values.

#pragma once

#include <memory>
#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/params/stored_types.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// The name of the slot.
inline constexpr std::string_view kMasterSlot = "master";

class MasterValues final : public Optimizer {
 public:
  /// Borrows layout and team for as long as it lives.
  MasterValues(std::unique_ptr<Optimizer> optimizer, const Layout& layout, Dtype dtype,
               ThreadTeam& team);

  /// Makes masters of values of full precision, which are rounded. Called whenever values
  /// were set by others.
  void adopt(FlatBuffer& values);

  FlatBuffer& masters() { return masters_; }
  const StoredTypes& types() const { return types_; }

  void start_step(std::size_t step, const StepRates& rates) override {
    optimizer_->start_step(step, rates);
  }
  /// The masters are the last slot.
  std::vector<OptimizerSlot> slots() override;
  void update(Range range, FlatBuffer& values, const ScaledGradients& gradients) override;

 private:
  void round(Range range, FlatBuffer& values);

  std::unique_ptr<Optimizer> optimizer_;
  const Layout& layout_;
  StoredTypes types_;
  FlatBuffer masters_;
  ThreadTeam& team_;
};

}  // namespace convoy
