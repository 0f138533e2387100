// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/step_times.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(StepTimes, AreAllZeroBeforeASecondStep) {
  StepTimes times;
  EXPECT_EQ(times.quantiles().max, 0);
  times.add(1.0);

  EXPECT_EQ(times.quantiles().p50, 0);
  EXPECT_EQ(times.quantiles().max, 0);
}

TEST(StepTimes, LeaveTheFirstStepOut) {
  StepTimes times;
  for (const double seconds : {100.0, 0.002, 0.002}) times.add(seconds);

  EXPECT_FLOAT_EQ(times.quantiles().p50, 2);
  EXPECT_FLOAT_EQ(times.quantiles().max, 2);
}

TEST(StepTimes, AreRankedInMilliseconds) {
  StepTimes times;
  times.add(100);
  // 11 down to 1 ms: the median is the sixth, nine tenths of the way is the tenth.
  for (int i = 11; i >= 1; --i) times.add(i * 1e-3);

  EXPECT_FLOAT_EQ(times.quantiles().p50, 6);
  EXPECT_FLOAT_EQ(times.quantiles().p90, 10);
  EXPECT_FLOAT_EQ(times.quantiles().max, 11);
  EXPECT_FLOAT_EQ(times.quantiles().mean, 6);
}

TEST(StepTimes, StayTrueOverALongRun) {
  StepTimes times;
  times.add(1);
  for (int step = 0; step < 300'000; ++step) times.add((step % 1000 + 1) * 1e-3);

  const StepTimes::Quantiles quantiles = times.quantiles();

  EXPECT_NEAR(quantiles.p50, 500, 10);
  EXPECT_NEAR(quantiles.p90, 900, 10);
  EXPECT_NEAR(quantiles.max, 1000, 1e-6);
}

TEST(StepTimes, CountFromTheFirstAfterTheyWereCleared) {
  StepTimes times;
  for (const double seconds : {100.0, 50.0, 60.0}) times.add(seconds);
  times.clear();
  times.add(0.003);

  EXPECT_FLOAT_EQ(times.quantiles().p50, 3);
  EXPECT_FLOAT_EQ(times.quantiles().max, 3);
}

}  // namespace
}  // namespace convoy
