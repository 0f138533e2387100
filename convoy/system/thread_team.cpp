// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/thread_team.h"

#include <fmt/format.h>

#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/range.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

// About 100 us: longer than the gap between two kernels, shorter than a late batch.
constexpr int kSpins = 5000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Returns once `value` is no longer `old`.
template <class T>
T wait_until_changed(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : shares_(static_cast<std::size_t>(threads)) {
  check(threads >= 1, "a team has at least the calling thread");
  try {
    for (int thread = 1; thread < threads; ++thread) {
      helpers_.emplace_back([this, thread] { serve(thread); });
    }
  } catch (const std::system_error& error) {
    end();
    throw InputError(InputKind::settings,
                     {.where = "threads",
                      .found = fmt::format("{}: cannot start a thread: {}", threads,
                                           error.code().message()),
                      .expected = "as many as the system lets this process have",
                      .hint = "a smaller cluster.threads"});
  }
}

ThreadTeam::~ThreadTeam() { end(); }

void ThreadTeam::end() {
  ending_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::run_job(Job job, std::size_t tasks) {
  flush_denormals();
  if (helpers_.empty() || tasks <= 1) {
    for (std::size_t task = 0; task < tasks; ++task) job.call(job.work, task, 0);
    return;
  }
  job_ = job;
  unfinished_.store(tasks, std::memory_order_relaxed);
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const Range part = even_part(tasks, shares_.size(), i);
    shares_[i].open.store(part.end << 32 | part.begin, std::memory_order_release);
  }
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();

  take_tasks(0);
  std::size_t left = unfinished_.load(std::memory_order_acquire);
  while (left != 0) left = wait_until_changed(unfinished_, left);
}

void ThreadTeam::take_tasks(int thread) {
  const std::size_t count = shares_.size();
  for (std::size_t offset = 0; offset < count; ++offset) {
    Share& share = shares_[(static_cast<std::size_t>(thread) + offset) % count];
    // Decremented once per share, not once per task: all threads write that word.
    std::size_t done = 0;
    for (;; ++done) {
      const std::uint64_t open = share.open.fetch_add(1, std::memory_order_acq_rel);
      const std::uint64_t task = open & 0xFFFFFFFF;
      if (task >= open >> 32) break;
      job_.call(job_.work, task, thread);
    }
    if (done > 0 && unfinished_.fetch_sub(done, std::memory_order_acq_rel) == done) {
      unfinished_.notify_one();
    }
  }
}

void ThreadTeam::serve(int thread) {
  flush_denormals();
  for (unsigned round = 0;;) {
    round = wait_until_changed(round_, round);
    if (ending_) return;
    take_tasks(thread);
  }
}

}  // namespace convoy
