// SPDX-License-Identifier: Apache-2.0
//
// EvaluationPolicy: decides from evaluations to lower the learning rate or to end the
// run, and notes what they have shown.
//
// All ranks have the same evaluation results, so they all decide alike.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/checkpoint/policy_state.h"
#include "convoy/network/loss.h"
#include "convoy/settings/settings.h"

namespace convoy {

class EvaluationPolicy {
 public:
  explicit EvaluationPolicy(const Settings& settings);

  /// Adds the evaluation after an epoch, `seconds` after the run began. Requires: its
  /// loss is finite.
  void take_in(const LossSum& evaluation, int epoch, double seconds);

  /// The factor of the scheduled learning rate from now on.
  double rate_factor() const { return lowers_rate_ ? plateau_.factor() : 1; }

  /// Why the run ends after this epoch, if it does; `split` names the evaluated set.
  std::optional<std::string> reason_to_end(std::string_view split, int epoch) const;

  /// Lines about what the evaluations have shown, for people.
  std::vector<std::string> findings(std::string_view split) const;

  const std::optional<LeastLoss>& least_loss() const { return least_loss_; }
  const std::optional<TargetReached>& target() const { return target_; }

  /// The states that a checkpoint keeps, of which it sets its own.
  void save_to(PolicyState& state) const;
  void restore_from(const PolicyState& state);

 private:
  std::string target_finding(std::string_view split) const;

  BestMetric metric_;
  bool lowers_rate_;
  double target_accuracy_;  // 0: none
  int min_epochs_;
  Plateau plateau_;
  EarlyStop early_stop_;
  std::optional<LeastLoss> least_loss_;
  std::optional<TargetReached> target_;
};

}  // namespace convoy
