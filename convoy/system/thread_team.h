// SPDX-License-Identifier: Apache-2.0
//
// ThreadTeam: a fixed set of threads that work through numbered tasks together.
//
//   team.run(tasks, [&](std::size_t task, int thread) { ... });
//
// Each thread starts in its own contiguous part of the tasks and then helps the others.
// So neighbouring tasks stay in one cache, and a thread that the system has descheduled
// delays nobody: the others do its tasks. Which thread runs a task is therefore not
// fixed: a task writes only what no other task writes, and results do not depend on the
// threads.
//
// run() allocates nothing. Idle threads spin for a moment, then sleep.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "convoy/base/aligned.h"

namespace convoy {

class ThreadTeam {
 public:
  /// A team of `threads` threads, including the calling one. Requires: threads >= 1.
  /// Throws InputError of kind `settings` if the system cannot start that many.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return static_cast<int>(shares_.size()); }

  /// Calls work(task, thread) for each task below `tasks`; returns when all are done. All
  /// threads, including the caller from then on, flush denormals to zero. One caller at a
  /// time, not from inside a task; `work` must not throw; tasks < 2^31.
  template <class Work>
  void run(std::size_t tasks, const Work& work) {
    run_job({&call<Work>, &work}, tasks);
  }

 private:
  struct Job {
    void (*call)(const void* work, std::size_t task, int thread) = nullptr;
    const void* work = nullptr;
  };

  /// The open tasks of a thread's own part: the next one in the lower half, the end in
  /// the upper. They are one word, so that a thread that comes late takes either a task
  /// of the job it sees or none.
  struct alignas(kCacheLine) Share {
    std::atomic<std::uint64_t> open{0};
  };

  template <class Work>
  static void call(const void* work, std::size_t task, int thread) {
    (*static_cast<const Work*>(work))(task, thread);
  }

  void end();
  void run_job(Job job, std::size_t tasks);
  void take_tasks(int thread);
  void serve(int thread);

  std::vector<Share> shares_;  // by thread
  Job job_;  // does not change while any of its tasks is open or running
  alignas(kCacheLine) std::atomic<unsigned> round_{0};          // counts jobs
  alignas(kCacheLine) std::atomic<std::size_t> unfinished_{0};  // tasks of this job
  std::atomic<bool> ending_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace convoy
