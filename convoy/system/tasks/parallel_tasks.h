// SPDX-License-Identifier: Apache-2.0
//
// run_in_parallel: tasks that may wait for disks and servers, and may throw, on threads
// of their own.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "convoy/system/quiet_thread.h"

namespace convoy {

/// Calls work(task, thread) for each task below `tasks`, on that many threads at most,
/// and returns when all are done. If one throws, no further ones are started, and the
/// error of the first task that failed is thrown. Requires: threads >= 1.
template <class Work>
void run_in_parallel(std::size_t tasks, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed = tasks;
  std::exception_ptr failure;
  const auto take_tasks = [&](std::size_t thread) {
    for (std::size_t task = next++; task < tasks; task = next++) {
      try {
        work(task, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (task < failed) {
          failed = task;
          failure = std::current_exception();
        }
        next = tasks;
      }
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  for (std::size_t i = 1; i < std::min(threads, tasks); ++i) {
    try {
      helpers.push_back(quiet_thread([&take_tasks, i] { take_tasks(i); }));
    } catch (const std::system_error&) {
      break;  // the system has no more threads: those that there are do all tasks
    }
  }
  take_tasks(0);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace convoy
