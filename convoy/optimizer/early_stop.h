// SPDX-License-Identifier: Apache-2.0
//
// EarlyStop: ends a run whose evaluations no longer improve.

#pragma once

#include <optional>

namespace convoy {

struct EarlyStopOptions {
  bool higher_better = true;  // true: an accuracy; false: a loss
  int patience = 0;           // evaluations without improvement; 0: unlimited
  double min_delta = 0;       // smallest change that counts as improvement
};

/// The state that a checkpoint keeps.
struct EarlyStopState {
  std::optional<double> best{};
  int best_epoch = 0;
  int without_better = 0;  // evaluations since the best

  bool operator==(const EarlyStopState&) const = default;
};

class EarlyStop {
 public:
  explicit EarlyStop(const EarlyStopOptions& options) : options_(options) {}

  /// Adds the result of the evaluation after an epoch. Requires: it is finite.
  void take_in(double metric, int epoch);

  bool is_over() const {
    return options_.patience > 0 && state_.without_better >= options_.patience;
  }

  const EarlyStopState& state() const { return state_; }
  void set_state(const EarlyStopState& state) { state_ = state; }

 private:
  bool is_better(double metric) const;

  EarlyStopOptions options_;
  EarlyStopState state_;
};

}  // namespace convoy
