// SPDX-License-Identifier: Apache-2.0
//
// MovingAverage: what a flat buffer has been lately, as exponential moving average.
//
//   average = decay * average + (1 - decay) * numbers
//
// It starts from the numbers after the first step, as PyTorch's AveragedModel does.
// Averaged values often do better than the last ones, which still carry the noise of
// their last steps.

#pragma once

#include "convoy/base/thread_team.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

class MovingAverage {
 public:
  /// Borrows the team for as long as it lives. Requires: 0 <= decay < 1.
  MovingAverage(const Layout& layout, double decay, ThreadTeam& team);

  /// Takes in the numbers in `range` as they are after step number `step`, from 0. Each
  /// element once a step. Requires: a buffer of the same layout.
  void update(std::size_t step, Range range, const FlatBuffer& numbers);

  /// Zero before the first update.
  const FlatBuffer& average() const { return average_; }
  FlatBuffer& average() { return average_; }

 private:
  FlatBuffer average_;
  float gain_;  // 1 - decay
  ThreadTeam& team_;
};

}  // namespace convoy
