// SPDX-License-Identifier: Apache-2.0
//
// TrainPosition: how far a run has come. The training loop owns the only one that counts;
// everybody else is told it.

#pragma once

#include <cstddef>

namespace convoy {

struct TrainPosition {
  std::size_t step = 0;  // updates made in the whole run
  int epoch = 1;
  std::size_t step_in_epoch = 0;  // updates made in this epoch

  bool operator==(const TrainPosition&) const = default;

  /// One update was made.
  void advance() { ++step, ++step_in_epoch; }

  /// The epoch is over.
  TrainPosition next_epoch() const { return {step, epoch + 1, 0}; }
};

}  // namespace convoy
