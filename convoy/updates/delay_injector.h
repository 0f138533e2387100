// SPDX-License-Identifier: Apache-2.0
//
// DelayInjector: sleeps for the injected delays, and measures the time slept.

#pragma once

#include <cstddef>

#include "convoy/updates/delay.h"

namespace convoy {

class DelayInjector {
 public:
  explicit DelayInjector(const Delay& delay) : delay_(delay) {}

  /// Sleeps for the delay of a step that has computed for that many seconds.
  void sleep(std::size_t step, double computed);

  /// Total seconds slept, by the clock: slightly more than requested.
  double seconds_slept() const { return slept_; }
  /// Seconds slept in the last step.
  double last_seconds_slept() const { return last_slept_; }

 private:
  Delay delay_;
  double slept_ = 0, last_slept_ = 0;
};

}  // namespace convoy
