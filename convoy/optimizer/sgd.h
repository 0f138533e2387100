// SPDX-License-Identifier: Apache-2.0
//
// Sgd: stochastic gradient descent with PyTorch's arithmetic.
//
//   d = gradient + weight_decay * value
//   velocity = momentum * velocity + d
//   value -= rate * (nesterov ? d + momentum * velocity : velocity)
//
// Weight decay and rate may differ between parameters (ParameterOptions).

#pragma once

#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/param_groups.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct SgdOptions {
  float rate = 0.01f;
  float momentum = 0;
  bool nesterov = false;  // needs momentum
  ParameterOptions parameters{};
};

class Sgd final : public Optimizer {
 public:
  /// Borrows the team for as long as the optimizer lives.
  Sgd(const Layout& layout, const SgdOptions& options, ThreadTeam& team);

  void start_step(std::size_t step, const StepRates& rates) override;
  std::vector<OptimizerSlot> slots() override { return {{"momentum_buffer", velocity_}}; }
  void update(Range range, FlatBuffer& values, const ScaledGradients& gradients) override;

 private:
  SgdOptions options_;
  ParamGroups groups_;
  FlatBuffer velocity_;
  ThreadTeam& team_;
};

}  // namespace convoy
