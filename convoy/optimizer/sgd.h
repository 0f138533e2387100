// SPDX-License-Identifier: Apache-2.0
//
// Sgd: stochastic gradient descent with PyTorch's arithmetic.
//
//   d = gradient + weight_decay * value
//   velocity = momentum * velocity + d
//   value -= rate * (nesterov ? d + momentum * velocity : velocity)

#pragma once

#include "convoy/base/thread_team.h"
#include "convoy/optimizer/optimizer.h"

namespace convoy {

struct SgdOptions {
  float rate = 0.01f;
  float momentum = 0;
  float weight_decay = 0;
  bool nesterov = false;  // needs momentum
};

class Sgd final : public Optimizer {
 public:
  /// Borrows the team for as long as the optimizer lives.
  Sgd(const Layout& layout, const SgdOptions& options, ThreadTeam& team);

  void set_learning_rate(float rate) override { options_.rate = rate; }
  void update(Range range, FlatBuffer& values, const FlatBuffer& gradients) override;

 private:
  SgdOptions options_;
  FlatBuffer velocity_;
  ThreadTeam& team_;
};

}  // namespace convoy
