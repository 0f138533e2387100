// SPDX-License-Identifier: Apache-2.0
//
// Adam and AdamW, with PyTorch's arithmetic.
//
//   Adam:   d = gradient + weight_decay * value
//   AdamW:  d = gradient; value *= 1 - rate * weight_decay
//
//   mean   = beta1 * mean + (1 - beta1) * d
//   square = beta2 * square + (1 - beta2) * d * d
//   value -= rate / (1 - beta1^n) * mean / (sqrt(square) / sqrt(1 - beta2^n) + eps)
//
// n is the step number, from 1. If a schedule cycles the momentum, beta1 is cycled.

#pragma once

#include <vector>

#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/param_groups.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct AdamOptions {
  double beta2 = 0.999;
  double eps = 1e-8;
  bool decoupled = false;  // AdamW
  ParameterOptions parameters{};
};

class Adam final : public Optimizer {
 public:
  /// Borrows the team for as long as the optimizer lives.
  Adam(const Layout& layout, const AdamOptions& options, ThreadTeam& team);

  /// `rates.momentum` is beta1. Requires: it is called before the first update.
  void start_step(std::size_t step, const StepRates& rates) override;
  std::vector<OptimizerSlot> slots() override {
    return {{"exp_avg", mean_}, {"exp_avg_sq", square_}};
  }
  void update(Range range, FlatBuffer& values, const ScaledGradients& gradients) override;

 private:
  /// The coefficients with which all elements are updated in a step.
  struct Factors {
    float beta1, rest1, beta2, rest2;  // rest: 1 - beta
    float rate;                        // including the bias correction of the mean
    float root;                        // square root of the bias correction of the square
    float eps;
  };

  template <bool kDecoupled>
  static void update_elements(const Factors& factors, float decay, std::size_t count,
                              const float* gradients, float scale, float* means,
                              float* squares, float* values);

  AdamOptions options_;
  ParamGroups groups_;
  FlatBuffer mean_, square_;
  ThreadTeam& team_;
  double rate_ = 0;
  Factors factors_{};
};

}  // namespace convoy
