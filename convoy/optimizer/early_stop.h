// SPDX-License-Identifier: Apache-2.0
//
// EarlyStop: ends a run whose evaluations do not improve.

#pragma once

#include <optional>

namespace convoy {

struct EarlyStopOptions {
  bool higher_better = true;  // an accuracy; false: a loss
  int patience = 0;           // evaluations without a better one; 0: any number
  double min_delta = 0;       // by which a better one has to be better
};

/// All that has to survive a resume.
struct EarlyStopState {
  std::optional<double> best{};
  int best_epoch = 0;
  int without_better = 0;  // evaluations since

  bool operator==(const EarlyStopState&) const = default;
};

class EarlyStop {
 public:
  explicit EarlyStop(const EarlyStopOptions& options) : options_(options) {}

  /// The result of the evaluation after an epoch. Requires: a finite one.
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
