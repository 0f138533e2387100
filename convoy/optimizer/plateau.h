// SPDX-License-Identifier: Apache-2.0
//
// Plateau: lowers the learning rate when evaluations no longer improve, like PyTorch's
// ReduceLROnPlateau with a relative threshold.
//
// After `patience` consecutive evaluations that did not improve on the best one, the next
// such evaluation multiplies the rate by gamma; the following `cooldown` evaluations are
// not counted.

#pragma once

#include <optional>

namespace convoy {

struct PlateauOptions {
  double rate = 0.01;         // before any reduction
  bool higher_better = true;  // true: an accuracy; false: a loss
  double gamma = 0.1;
  int patience = 10;
  double threshold = 1e-4;  // smallest relative change that counts as improvement
  int cooldown = 0;
  double min_rate = 0;
};

/// The state that a checkpoint keeps.
struct PlateauState {
  double factor = 1;             // of the scheduled rate
  std::optional<double> best{};  // best evaluation so far
  int without_better = 0;        // evaluations since the best
  int cooling = 0;               // evaluations that will not be counted

  bool operator==(const PlateauState&) const = default;
};

class Plateau {
 public:
  explicit Plateau(const PlateauOptions& options) : options_(options) {}

  /// Adds an evaluation's result. Requires: it is finite.
  void take_in(double metric);

  /// The factor of the scheduled rate.
  double factor() const { return state_.factor; }

  const PlateauState& state() const { return state_; }
  void set_state(const PlateauState& state) { state_ = state; }

 private:
  bool is_better(double metric) const;
  void lower_rate();

  PlateauOptions options_;
  PlateauState state_;
};

}  // namespace convoy
