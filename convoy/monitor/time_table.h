// SPDX-License-Identifier: Apache-2.0
//
// Formats how the time of a run was spent.

#pragma once

#include <string>

namespace convoy {

/// In seconds. Waiting for data or other ranks is part of training.
struct RunTimes {
  double total = 0;
  double training = 0, waiting_for_data = 0, communicating = 0;
  double checkpointing = 0, evaluating = 0;

  double computing() const;  // training without waiting
  double other() const;      // the rest of the total
};

/// One line per item, in seconds and percent of the total.
std::string time_table(const RunTimes& times);

}  // namespace convoy
