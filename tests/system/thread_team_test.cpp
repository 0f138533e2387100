// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "tests/system/whole_team.h"

namespace convoy {
namespace {

class ThreadTeamOf : public testing::TestWithParam<int> {};

// Plain counters, one a task: a task that ran twice is a wrong count, two threads at one
// task a race that the thread sanitizer sees.
TEST_P(ThreadTeamOf, RunsEachTaskOnceInEveryRound) {
  constexpr std::size_t kCounts[] = {0, 1, 2, 3, 4, 5, 7, 64, 1000};
  ThreadTeam team(GetParam());
  std::vector<int> runs(1000, 0);
  std::vector<int> expected(1000, 0);

  for (int round = 0; round < 300; ++round) {
    const std::size_t tasks = kCounts[static_cast<std::size_t>(round) % 9];
    team.run(tasks, [&](std::size_t task, int) { ++runs[task]; });
    for (std::size_t task = 0; task < tasks; ++task) ++expected[task];
    ASSERT_EQ(runs, expected) << "round " << round << " of " << tasks << " tasks";
  }
}

TEST_P(ThreadTeamOf, NumbersItsThreadsSoThatNoTwoShareANumber) {
  ThreadTeam team(GetParam());
  std::vector<int> busy(static_cast<std::size_t>(GetParam()), 0);  // a scratch each

  for (int round = 0; round < 50; ++round) {
    team.run(40, [&](std::size_t, int thread) {
      ASSERT_GE(thread, 0);
      ASSERT_LT(thread, GetParam());
      ++busy[static_cast<std::size_t>(thread)];
    });
  }

  int runs = 0;
  for (const int count : busy) runs += count;
  EXPECT_EQ(team.threads(), GetParam());
  EXPECT_EQ(runs, 50 * 40);
}

TEST_P(ThreadTeamOf, ShowsTheNextRoundWhatTheLastOneWrote) {
  constexpr std::size_t kTasks = 37;
  ThreadTeam team(GetParam());
  std::vector<std::size_t> from(kTasks), to(kTasks);
  for (std::size_t i = 0; i < kTasks; ++i) from[i] = i;

  for (int round = 0; round < 200; ++round) {
    team.run(kTasks,
             [&](std::size_t task, int) { to[task] = from[(task + 1) % kTasks]; });
    std::swap(from, to);
  }

  for (std::size_t i = 0; i < kTasks; ++i) EXPECT_EQ(from[i], (i + 200) % kTasks);
}

TEST_P(ThreadTeamOf, WakesUpAllOfItsThreads) {
  ThreadTeam team(GetParam());

  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(all_threads_take_part(team)) << "round " << round;
  }
}

TEST_P(ThreadTeamOf, WaitsForATaskThatTakesLong) {
  ThreadTeam team(GetParam());
  std::vector<int> done(6, 0);

  team.run(done.size(), [&](std::size_t task, int) {
    if (task + 1 == done.size()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    done[task] = 1;
  });

  EXPECT_EQ(done, std::vector<int>(6, 1));
}

TEST_P(ThreadTeamOf, EndsAtOnceWithoutHavingWorked) {
  const ThreadTeam team(GetParam());

  EXPECT_EQ(team.threads(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadTeamOf, testing::Values(1, 2, 3, 4, 5, 16));

TEST(ThreadTeam, MayLiveBesideAnother) {
  ThreadTeam one(2), other(3);
  int sum = 0;

  one.run(1, [&](std::size_t, int) { other.run(1, [&](std::size_t, int) { ++sum; }); });

  EXPECT_EQ(sum, 1);
}

TEST(ThreadTeamDeathTest, HasAtLeastOneThread) {
  EXPECT_DEATH(ThreadTeam(0), "at least the calling thread");
}

}  // namespace
}  // namespace convoy
