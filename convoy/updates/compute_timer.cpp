// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/compute_timer.h"

namespace convoy {

void ComputeTimer::begin(std::size_t step) {
  step_ = step;
  ready_ = 0;
  seconds_apart_ = 0;
  watch_.restart();
}

void ComputeTimer::gradient_ready(SegmentId segment) {
  if (++ready_ == segments_) {
    delays_.sleep(step_, watch_.seconds() - seconds_apart_);
    seconds_ = watch_.seconds() - seconds_apart_;
  }
  strategy_.gradient_ready(segment);
}

}  // namespace convoy
