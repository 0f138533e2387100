// SPDX-License-Identifier: Apache-2.0
//
// EvaluationPolicy: what evaluations decide about the rest of a run: a lower rate, or its
// end.
//
// All ranks have the same evaluation results, so all of them judge alike.

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

  /// The evaluation after an epoch. Requires: its loss is finite.
  void take_in(const LossSum& evaluation, int epoch);

  /// What the scheduled learning rate is multiplied with from now on.
  double rate_factor() const { return lowers_rate_ ? plateau_.factor() : 1; }

  /// Why the run is over before its last epoch, if it is; `split` is what was evaluated.
  std::optional<std::string> reason_to_end(std::string_view split) const;

  /// Their states have to survive a resume.
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
