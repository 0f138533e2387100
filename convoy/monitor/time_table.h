// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a run went, as a table.

#pragma once

#include <string>

namespace convoy {

/// In seconds. What is waited for data or other ranks is part of training.
struct RunTimes {
  double total = 0;
  double training = 0, waiting_for_data = 0, communicating = 0;
  double checkpointing = 0, evaluating = 0;

  double computing() const;  // what of training is not waiting
  double other() const;      // what of the total is nothing else
};

/// A line each, in seconds and percent of the total.
std::string time_table(const RunTimes& times);

}  // namespace convoy
