// SPDX-License-Identifier: Apache-2.0
//
// StopRequest: turns Ctrl-C, SIGTERM, and SIGUSR1, which schedulers send before a time
// limit, into a flag that the training loop checks.
//
// The first signal requests a clean end at the next step; a second one ends the process
// at once with exit code 130. There is one object at a time, in main(); its destructor
// restores the previous handlers.

#pragma once

#include <csignal>

namespace convoy {

class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// The signal that was received; 0 if none was.
  int signal() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
  struct sigaction old_usr1_ {};
};

/// The name of a stop signal: "SIGINT". Empty for any other signal.
const char* stop_signal_name(int signal);

}  // namespace convoy
