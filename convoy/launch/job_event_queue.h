// SPDX-License-Identifier: Apache-2.0
//
// JobEventQueue: passes events of the job from the threads of the session and the
// rendezvous to the supervisor's thread.

#pragma once

#include <sys/eventfd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "convoy/rendezvous/job_event.h"
#include "convoy/system/descriptor.h"

namespace convoy {

class JobEventQueue {
 public:
  JobEventQueue() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void add(JobEvent event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(ready_.get(), &one, sizeof(one));
  }

  std::vector<JobEvent> take_all() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(ready_.get(), &count, sizeof(count));
    return std::exchange(events_, {});
  }

  /// Readable when there are events.
  int file() const { return ready_.get(); }

 private:
  Descriptor ready_;
  std::mutex mutex_;
  std::vector<JobEvent> events_;
};

}  // namespace convoy
