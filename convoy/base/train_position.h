// SPDX-License-Identifier: Apache-2.0
//
// TrainPosition: how far a run has come. The training loop owns it and passes it to
// everything else.

#pragma once

#include <cstddef>

namespace convoy {

struct TrainPosition {
  std::size_t step = 0;  // updates made in the whole run
  int epoch = 1;
  std::size_t step_in_epoch = 0;  // updates made in this epoch

  bool operator==(const TrainPosition&) const = default;

  /// Counts one update.
  void advance() { ++step, ++step_in_epoch; }

  /// Ends the epoch.
  TrainPosition next_epoch() const { return {step, epoch + 1, 0}; }
};

}  // namespace convoy
