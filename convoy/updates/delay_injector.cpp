// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/delay_injector.h"

#include <chrono>
#include <thread>

#include "convoy/base/clock.h"

namespace convoy {

void DelayInjector::sleep(std::size_t step, double computed) {
  last_slept_ = 0;
  const double wanted = delay_.seconds(step, computed);
  if (wanted <= 0) return;
  const Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::duration<double>(wanted));
  last_slept_ = watch.seconds();
  slept_ += last_slept_;
}

}  // namespace convoy
