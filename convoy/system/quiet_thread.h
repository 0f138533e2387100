// SPDX-License-Identifier: Apache-2.0
//
// quiet_thread: a thread that signals do not break into. A process's signals go to any
// thread that lets them; a library's threads leave them to whoever wants them.

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
