// SPDX-License-Identifier: Apache-2.0
//
// SignalQueue: signals that ask a launcher to stop, read from a descriptor instead of
// interrupting its work. All other threads of the process have to block them.

#pragma once

#include <csignal>
#include <optional>

#include "convoy/system/descriptor.h"

namespace convoy {

class SignalQueue {
 public:
  /// SIGINT, SIGTERM, SIGHUP and SIGUSR1.
  SignalQueue();

  /// Drops signals that were not read, and unblocks them. If a signal was read, they stay
  /// blocked: a process that was asked to stop and is about to end must end with its own
  /// exit code, however often it is asked.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Returns the next signal, if there is one.
  std::optional<int> next();

  /// Readable when there is a signal.
  int file() const { return file_.get(); }

 private:
  sigset_t before_;
  Descriptor file_;
  bool stop_requested_ = false;
};

}  // namespace convoy
