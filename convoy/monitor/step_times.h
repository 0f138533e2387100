// SPDX-License-Identifier: Apache-2.0
//
// StepTimes: quantiles of the durations of steps; the first step is left out (it warms
// up). Of a long run it keeps every second, fourth ... duration, so that memory and the
// cost of a step stay bounded.

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
  std::size_t count_ = 0;   // of those that count
  std::size_t stride_ = 1;  // of the durations kept
  double sum_ = 0, longest_ = 0;
  std::vector<float> milliseconds_;
};

}  // namespace convoy
