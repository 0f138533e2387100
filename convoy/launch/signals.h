// SPDX-License-Identifier: Apache-2.0
//
// SignalQueue: signals that ask a launcher to stop, read like a file instead of breaking
// into its work. All other threads of the process have to be quiet ones.

#pragma once

#include <csignal>
#include <optional>

#include "convoy/system/descriptor.h"

namespace convoy {

class SignalQueue {
 public:
  /// SIGINT, SIGTERM, SIGHUP and SIGUSR1.
  SignalQueue();

  /// Lets signals through again. What came meanwhile and was not read comes now.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// The next signal, if one has come.
  std::optional<int> next() const;

  /// Readable when there is one.
  int file() const { return file_.get(); }

 private:
  sigset_t before_;
  Descriptor file_;
};

}  // namespace convoy
