// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/tasks/parallel_tasks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace convoy {
namespace {

TEST(ParallelTasks, AreDoneOnceEach) {
  std::vector<std::atomic<int>> done(1000);
  std::atomic<int> outside = 0;
  run_in_parallel(done.size(), 4, [&](std::size_t task, std::size_t thread) {
    ++done[task];
    if (thread >= 4) ++outside;
  });
  for (const auto& times : done) EXPECT_EQ(times, 1);
  EXPECT_EQ(outside, 0);
  run_in_parallel(0, 4, [&](std::size_t, std::size_t) { ++outside; });
  EXPECT_EQ(outside, 0);
}

TEST(ParallelTasks, EndWithTheErrorOfTheFirstThatFailed) {
  std::atomic<int> started = 0;
  try {
    run_in_parallel(100'000, 3, [&](std::size_t task, std::size_t) {
      ++started;
      if (task >= 5) throw std::runtime_error(std::to_string(task));
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), std::string("5"));
  }
  EXPECT_LT(started, 100);
}

}  // namespace
}  // namespace convoy
