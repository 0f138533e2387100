// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/stop_request.h"

#include <unistd.h>

#include "convoy/base/exit_code.h"

namespace convoy {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int signal) {
  if (received != 0) _exit(static_cast<int>(ExitCode::interrupted_twice));
  received = signal;
}

}  // namespace

StopRequest::StopRequest() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
  sigaction(SIGUSR1, &action, &old_usr1_);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGUSR1, &old_usr1_, nullptr);
}

int StopRequest::signal() const { return received; }

const char* stop_signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "";
  }
}

}  // namespace convoy
