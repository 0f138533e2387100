// SPDX-License-Identifier: Apache-2.0
//
// A job that every thread of a team must take part in, for tests of teams.

#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "convoy/system/thread_team.h"

namespace convoy {

/// Runs one task a thread, each of which waits until all have begun: so no thread can do
/// two. False if some thread did not come within ten seconds.
template <class Work>
bool all_threads_take_part(ThreadTeam& team, const Work& work) {
  std::atomic<int> begun{0};
  std::atomic<bool> all{true};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  team.run(static_cast<std::size_t>(team.threads()), [&](std::size_t task, int) {
    ++begun;
    while (begun < team.threads() && all) {
      if (std::chrono::steady_clock::now() > deadline) all = false;
      std::this_thread::yield();
    }
    work(task);
  });
  return all;
}

inline bool all_threads_take_part(ThreadTeam& team) {
  return all_threads_take_part(team, [](std::size_t) {});
}

}  // namespace convoy
