// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/signals.h"

#include <pthread.h>
#include <sys/signalfd.h>

#include "convoy/base/error.h"

namespace convoy {
namespace {

sigset_t held_back() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalQueue::SignalQueue() {
  const sigset_t set = held_back();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  file_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  check(static_cast<bool>(file_), "the system has a signalfd");
}

SignalQueue::~SignalQueue() {
  while (next()) {
  }
  if (!stop_requested_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalQueue::next() {
  signalfd_siginfo info{};
  if (::read(file_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  stop_requested_ = true;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace convoy
