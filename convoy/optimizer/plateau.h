// SPDX-License-Identifier: Apache-2.0
//
// Plateau: lowers the learning rate when evaluations do not improve, as PyTorch's
// ReduceLROnPlateau with a relative threshold.
//
// After `patience` evaluations in a row that were not better than the best one, the next
// such one multiplies the rate by gamma; the `cooldown` evaluations after that do not
// count.

#pragma once

#include <optional>

namespace convoy {

struct PlateauOptions {
  double rate = 0.01;         // before any change
  bool higher_better = true;  // an accuracy; false: a loss
  double gamma = 0.1;
  int patience = 10;
  double threshold = 1e-4;  // part by which a better one has to be better
  int cooldown = 0;
  double min_rate = 0;
};

/// All that has to survive a resume.
struct PlateauState {
  double factor = 1;             // by which the rate is multiplied
  std::optional<double> best{};  // of the evaluations so far
  int without_better = 0;        // evaluations since
  int cooling = 0;               // evaluations that will not count

  bool operator==(const PlateauState&) const = default;
};

class Plateau {
 public:
  explicit Plateau(const PlateauOptions& options) : options_(options) {}

  /// An evaluation's result. Requires: a finite one.
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
