// SPDX-License-Identifier: Apache-2.0
//
// quiet_thread: a thread that blocks all signals. A process's signals are delivered to
// any thread that does not block them; library threads leave them to the application's.

#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace convoy {

template <class Work>
std::thread quiet_thread(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits it
  try {
    std::thread thread(std::move(work));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {  // the system has no more threads to give
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace convoy
