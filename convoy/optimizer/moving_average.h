// SPDX-License-Identifier: Apache-2.0
//
// MovingAverage: the average of a flat buffer over steps or epochs.
//
//   exponential   average = decay * average + (1 - decay) * numbers
//   equal         average += (numbers - average) / (how many there were + 1)
//
// It starts with the first numbers, as PyTorch's AveragedModel does. Averaged values
// often evaluate better than the last ones, which still have the noise of the last steps.

#pragma once

#include <optional>

#include "convoy/params/flat_buffer.h"
#include "convoy/system/thread_team.h"

namespace convoy {

class MovingAverage {
 public:
  /// Borrows the team for as long as it lives. Without a decay, all numbers have equal
  /// weight. Requires: 0 <= decay < 1.
  MovingAverage(const Layout& layout, std::optional<double> decay, ThreadTeam& team);

  /// Adds the numbers in `range` to the average, which has had `count` updates. Requires:
  /// a buffer of the same layout.
  void update(std::size_t count, Range range, const FlatBuffer& numbers);

  /// Zero before the first update.
  const FlatBuffer& average() const { return average_; }
  FlatBuffer& average() { return average_; }

 private:
  FlatBuffer average_;
  std::optional<double> decay_;
  ThreadTeam& team_;
};

}  // namespace convoy
