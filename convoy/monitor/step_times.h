// SPDX-License-Identifier: Apache-2.0
//
// StepTimes: quantiles of step durations, without the first step, which warms up. For a
// long run it keeps every second, fourth ... duration, so that memory and cost stay
// bounded.

#pragma once

#include <cstddef>
#include <vector>

namespace convoy {

class StepTimes {
 public:
  StepTimes() { milliseconds_.reserve(kMost); }

  void add(double seconds);

  /// Forgets all durations. The next one counts.
  void clear();

  struct Quantiles {
    double mean = 0, p50 = 0, p90 = 0, max = 0;
  };
  /// In milliseconds.
  Quantiles quantiles() const;

 private:
  static constexpr std::size_t kMost = 1 << 16;

  bool warm_ = false;       // the first step is over
  std::size_t count_ = 0;   // of counted steps
  std::size_t stride_ = 1;  // every how many steps a duration is kept
  double sum_ = 0, longest_ = 0;
  std::vector<float> milliseconds_;
};

}  // namespace convoy
