// SPDX-License-Identifier: Apache-2.0
//
// EvaluationPolicy: decides from evaluations to lower the learning rate or to end the
// run.
//
// All ranks have the same evaluation results, so they all decide alike.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "convoy/network/loss.h"
#include "convoy/optimizer/early_stop.h"
#include "convoy/optimizer/plateau.h"
#include "convoy/settings/settings.h"

namespace convoy {

class EvaluationPolicy {
 public:
  explicit EvaluationPolicy(const Settings& settings);

  /// Adds the evaluation after an epoch. Requires: its loss is finite.
  void take_in(const LossSum& evaluation, int epoch);

  /// The factor of the scheduled learning rate from now on.
  double rate_factor() const { return lowers_rate_ ? plateau_.factor() : 1; }

  /// Why the run ends before its last epoch, if it does; `split` names the evaluated set.
  std::optional<std::string> reason_to_end(std::string_view split) const;

  /// The states that a checkpoint keeps.
  Plateau& plateau() { return plateau_; }
  EarlyStop& early_stop() { return early_stop_; }
  const Plateau& plateau() const { return plateau_; }
  const EarlyStop& early_stop() const { return early_stop_; }

 private:
  BestMetric metric_;
  bool lowers_rate_;
  Plateau plateau_;
  EarlyStop early_stop_;
};

}  // namespace convoy
