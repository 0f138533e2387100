// SPDX-License-Identifier: Apache-2.0
//
// DelayInjector: sleeps for the delays that are put into a run on purpose, and counts
// what was slept.

#pragma once

#include <cstddef>

#include "convoy/updates/delay.h"

namespace convoy {

class DelayInjector {
 public:
  explicit DelayInjector(const Delay& delay) : delay_(delay) {}

  /// Sleeps as the delay has it for a step that has computed for so many seconds.
  void sleep(std::size_t step, double computed);

  /// Slept in all steps, by the clock: a little more than was asked for.
  double seconds_slept() const { return slept_; }
  /// The same of the last step.
  double last_seconds_slept() const { return last_slept_; }

 private:
  Delay delay_;
  double slept_ = 0, last_slept_ = 0;
};

}  // namespace convoy
