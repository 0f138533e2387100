// SPDX-License-Identifier: Apache-2.0
//
// Stopwatch: seconds since it was made or last restarted.

#pragma once

#include <chrono>

namespace convoy {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace convoy
