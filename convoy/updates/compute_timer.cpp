// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/compute_timer.h"

#include <thread>

namespace convoy {

ComputeTimer::ComputeTimer(PassListener& strategy, std::size_t segments,
                           const Delay& delay)
    : strategy_(strategy), segments_(segments), delay_(delay) {}

void ComputeTimer::begin(std::size_t step) {
  step_ = step;
  ready_ = 0;
  last_ = {};
  watch_.restart();
}

void ComputeTimer::gradient_ready(SegmentId segment) {
  if (++ready_ == segments_) {
    last_ = sleep();
    all_.asked_for += last_.asked_for;
    all_.slept += last_.slept;
    seconds_ = watch_.seconds();
  }
  strategy_.gradient_ready(segment);
}

ComputeTimer::Sleep ComputeTimer::sleep() const {
  const double wanted = delay_.seconds(step_, watch_.seconds());
  if (wanted <= 0) return {};
  const Stopwatch slept;
  std::this_thread::sleep_for(std::chrono::duration<double>(wanted));
  return {wanted, slept.seconds()};
}

}  // namespace convoy
