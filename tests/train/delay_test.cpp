// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/delay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/train/own_work.h"

namespace convoy {
namespace {

constexpr std::uint64_t kSeed = 3;

TEST(DelayMilliseconds, AreNamedOrGiven) {
  EXPECT_EQ(delay_milliseconds("none"), 0);
  EXPECT_EQ(delay_milliseconds("small"), 10);
  EXPECT_EQ(delay_milliseconds("medium"), 20);
  EXPECT_EQ(delay_milliseconds("long"), 30);
  EXPECT_EQ(delay_milliseconds("2.5"), 2.5);
  for (const char* text : {"", "tiny", "-1", "60001", "5ms", "nan", "inf"}) {
    EXPECT_FALSE(delay_milliseconds(text)) << text;
  }
}

TEST(Delay, IsTheSameInEveryStepIfConstant) {
  const Delay delay({.delay = "medium"}, kSeed, /*rank=*/1);

  for (const std::size_t step : {0u, 1u, 77u}) {
    EXPECT_DOUBLE_EQ(delay.seconds(step, /*computed=*/1), 0.020);
  }
}

TEST(Delay, IsAroundItsMeanIfGaussian) {
  const InjectSettings settings = {
      .delay = "20", .delay_kind = "gaussian", .sigma_ms = 2};
  const Delay delay(settings, kSeed, /*rank=*/1);
  constexpr int kSteps = 4000;

  double sum = 0, squares = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const double distance = delay.seconds(step, 0) * 1e3 - 20;
    sum += distance;
    squares += distance * distance;
  }

  EXPECT_NEAR(sum / kSteps, 0, 0.2);
  EXPECT_NEAR(std::sqrt(squares / kSteps), 2, 0.2);
}

TEST(Delay, IsAFunctionOfSeedRankAndStep) {
  const InjectSettings settings = {.delay = "20", .delay_kind = "gaussian"};
  const Delay delay(settings, kSeed, 1), again(settings, kSeed, 1);

  EXPECT_EQ(delay.seconds(5, 0), again.seconds(5, 0));
  EXPECT_NE(delay.seconds(5, 0), delay.seconds(6, 0));
  EXPECT_NE(delay.seconds(5, 0), Delay(settings, kSeed, 2).seconds(5, 0));
  EXPECT_NE(delay.seconds(5, 0), Delay(settings, kSeed + 1, 1).seconds(5, 0));
}

TEST(Delay, IsNeverNegative) {
  const InjectSettings settings = {
      .delay = "1", .delay_kind = "gaussian", .sigma_ms = 100};
  const Delay delay(settings, kSeed, 1);

  for (std::size_t step = 0; step < 100; ++step) EXPECT_GE(delay.seconds(step, 0), 0);
}

TEST(Delay, OfTheSlowRankIsLongerByItsFactor) {
  const InjectSettings settings = {.delay = "small", .slow_rank = 2, .slow_factor = 6};

  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 2).seconds(0, 1), 0.060);
  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 1).seconds(0, 1), 0.010);
}

TEST(Delay, OfTheSlowRankAloneFollowsWhatItComputed) {
  const InjectSettings settings = {.slow_rank = 2, .slow_factor = 3};

  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 2).seconds(0, 0.5), 1.0);
  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 1).seconds(0, 0.5), 0);
}

/// When the gradients reached the strategy, in seconds from the begin.
class Arrivals : public PassListener {
 public:
  void gradient_ready(SegmentId) override { at.push_back(watch.seconds()); }

  Stopwatch watch;
  std::vector<double> at;
};

TEST(OwnWork, SleepsBeforeTheLastGradientOfAStepGoesOn) {
  Arrivals arrivals;
  OwnWork work(arrivals, /*segments=*/3, Delay({.delay = "40"}, kSeed, 0));

  work.begin(0);
  arrivals.watch.restart();
  for (std::size_t i = 0; i < 3; ++i) work.gradient_ready(SegmentId{i});

  ASSERT_EQ(arrivals.at.size(), 3u);
  EXPECT_LT(arrivals.at[1], 0.040);
  EXPECT_GE(arrivals.at[2], 0.040);
}

TEST(OwnWork, CountsWhatItSlept) {
  PassListener nobody;
  OwnWork work(nobody, /*segments=*/1, Delay({.delay = "15"}, kSeed, 0));

  const Stopwatch watch;
  for (std::size_t step = 0; step < 3; ++step) {
    work.begin(step);
    work.gradient_ready(SegmentId{0});
    EXPECT_GE(work.seconds(), 0.015);
  }

  EXPECT_GE(work.seconds_slept(), 0.045);
  EXPECT_LE(work.seconds_slept(), watch.seconds());
}

}  // namespace
}  // namespace convoy
