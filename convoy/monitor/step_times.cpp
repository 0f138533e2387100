// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/step_times.h"

#include <algorithm>

namespace convoy {

void StepTimes::add(double seconds) {
  if (!warm_) {
    warm_ = true;
    return;
  }
  sum_ += seconds * 1e3;
  longest_ = std::max(longest_, seconds * 1e3);
  if (++count_ % stride_ != 0) return;
  if (milliseconds_.size() == kMost) {
    for (std::size_t i = 0; i < kMost / 2; ++i)
      milliseconds_[i] = milliseconds_[2 * i + 1];
    milliseconds_.resize(kMost / 2);
    stride_ *= 2;
    if (count_ % stride_ != 0) return;
  }
  milliseconds_.push_back(static_cast<float>(seconds * 1e3));
}

void StepTimes::clear() {
  warm_ = true;
  count_ = 0;
  stride_ = 1;
  sum_ = longest_ = 0;
  milliseconds_.clear();
}

StepTimes::Quantiles StepTimes::quantiles() const {
  if (milliseconds_.empty()) return {};
  std::vector<float> sorted = milliseconds_;
  std::ranges::sort(sorted);
  const std::size_t last = sorted.size() - 1;
  return {sum_ / static_cast<double>(count_), sorted[last / 2], sorted[last * 9 / 10],
          longest_};
}

}  // namespace convoy
