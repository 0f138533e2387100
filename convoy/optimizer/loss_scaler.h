// SPDX-License-Identifier: Apache-2.0
//
// LossScaler: the factor by which the loss is multiplied before backward, so that small
// gradients do not become zero in fp16: dynamic, as Apex's.
//
//   2^16 at first; twice as much after 2000 steps in a row without overflow, 2^24 at
//   most; half of it after an overflow, whose step is skipped
//
// An overflow is a gradient that is not finite, of any rank. All ranks take in the same,
// so all have the same scale.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "convoy/params/flat_buffer.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct LossScaleOptions {
  double initial = 65536;
  std::uint64_t growth_interval = 2000;  // steps
};

/// What a checkpoint keeps.
struct LossScaleState {
  double scale = 65536;
  std::uint64_t good_steps = 0;  // since it last changed
  std::uint64_t skipped = 0;     // steps of the run

  bool operator==(const LossScaleState&) const = default;
};

/// Whether no number is infinite or not-a-number.
bool all_finite(std::span<const float> numbers, ThreadTeam& team);

class LossScaler {
 public:
  static constexpr double kMost = 16777216;  // 2^24

  /// Borrows the team for as long as it lives.
  LossScaler(const LossScaleOptions& options, ThreadTeam& team);

  double scale() const { return state_.scale; }
  /// Whether it fell below 1: gradients are not finite at any scale.
  bool is_exhausted() const { return state_.scale < 1; }
  /// Whether the update of the step that was taken in last is not made.
  bool is_skipping() const { return is_skipping_; }

  bool all_finite(std::span<const float> gradients) const {
    return convoy::all_finite(gradients, team_);
  }

  /// Takes in a step. Returns whether its update is to be made.
  bool take_in(bool is_finite) { return take_in(is_finite, state_.scale); }
  /// As above, of gradients that were computed with this scale, perhaps an earlier one.
  /// It is lowered to half of that, unless it is as low already.
  bool take_in(bool is_finite, double scale);

  const LossScaleState& state() const { return state_; }
  void restore(const LossScaleState& state) { state_ = state; }

  /// What Apex prints after a skipped step.
  std::string overflow_message() const;

 private:
  LossScaleOptions options_;
  LossScaleState state_;
  bool is_skipping_ = false;
  ThreadTeam& team_;
};

}  // namespace convoy
