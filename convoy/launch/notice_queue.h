// SPDX-License-Identifier: Apache-2.0
//
// NoticeQueue: notices of the store, on their way from the session's thread to the one
// that acts on them.

#pragma once

#include <sys/eventfd.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "convoy/rendezvous/store_protocol.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// Not of the store: a line that the service on this node has to say.
inline constexpr const char* kLogKey = "log";

struct Notice {
  std::string key;  // empty: the service itself is lost, and `value` says why
  Bytes value;
};

class NoticeQueue {
 public:
  NoticeQueue() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void add(Notice notice) {
    const std::lock_guard lock(mutex_);
    notices_.push_back(std::move(notice));
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(ready_.get(), &one, sizeof(one));
  }

  std::vector<Notice> take_all() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(ready_.get(), &count, sizeof(count));
    return std::exchange(notices_, {});
  }

  /// Readable when there are notices.
  int file() const { return ready_.get(); }

 private:
  Descriptor ready_;
  std::mutex mutex_;
  std::vector<Notice> notices_;
};

}  // namespace convoy
