// SPDX-License-Identifier: Apache-2.0
//
// StopRequest: Ctrl-C, SIGTERM, and SIGUSR1 as schedulers send it before a time limit, as
// a flag that the training loop looks at.
//
// The first signal asks for a clean end at the next step; a second one ends the process
// at once with exit code 130. One object at a time, in main(); the previous handlers are
// restored by its destructor.

#pragma once

#include <csignal>

namespace convoy {

class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// The signal that asked; 0 if none did.
  int signal() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
  struct sigaction old_usr1_ {};
};

/// A signal that asks to stop as people know it: "SIGINT". Empty for any other.
const char* stop_signal_name(int signal);

}  // namespace convoy
