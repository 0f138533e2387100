// SPDX-License-Identifier: Apache-2.0
//
// SignalQueue: signals that ask a launcher to stop, read like a file instead of
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

  /// Drops signals that were not read, and lets later ones through again; if one was read
  /// they stay blocked, for a process that was asked to stop and is about to end ends
  /// with its own exit code, however often it is asked.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// The next signal, if there is one.
  std::optional<int> next();

  /// Readable when there is one.
  int file() const { return file_.get(); }

 private:
  sigset_t before_;
  Descriptor file_;
  bool stop_requested_ = false;
};

}  // namespace convoy
