// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/children.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::chrono::milliseconds kPause{2};

}  // namespace

Children::~Children() {
  for (const pid_t child : running_) {
    if (child == 0) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

void Children::start(const std::function<void()>& body) {
  const pid_t child = ::fork();
  check(child >= 0, "a process can be started");
  if (child > 0) return running_.push_back(child);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    body();
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

/// Waits for these only: a process may have other children.
std::optional<std::size_t> Children::wait() {
  const auto is_running = [](pid_t child) { return child != 0; };
  while (std::ranges::any_of(running_, is_running)) {
    for (std::size_t number = 0; number < running_.size(); ++number) {
      pid_t& child = running_[number];
      int status = 0;
      const pid_t ended = is_running(child) ? ::waitpid(child, &status, WNOHANG) : 0;
      if (ended == 0) continue;
      const bool well = ended == child && status == 0;
      child = 0;
      if (!well) return number;
    }
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

}  // namespace convoy
