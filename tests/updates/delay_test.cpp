// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/delay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "convoy/settings/delay_milliseconds.h"
#include "convoy/updates/compute_timer.h"

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
      .delay = "20", .delay_kind = DelayKind::gaussian, .sigma_ms = 2};
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
  const InjectSettings settings = {.delay = "20", .delay_kind = DelayKind::gaussian};
  const Delay delay(settings, kSeed, 1), again(settings, kSeed, 1);

  EXPECT_EQ(delay.seconds(5, 0), again.seconds(5, 0));
  EXPECT_NE(delay.seconds(5, 0), delay.seconds(6, 0));
  EXPECT_NE(delay.seconds(5, 0), Delay(settings, kSeed, 2).seconds(5, 0));
  EXPECT_NE(delay.seconds(5, 0), Delay(settings, kSeed + 1, 1).seconds(5, 0));
}

InjectSettings pareto(double shape) {
  return {.delay = "20", .delay_kind = DelayKind::pareto, .pareto_shape = shape};
}

std::vector<double> milliseconds_of(const Delay& delay, std::size_t steps) {
  std::vector<double> found;
  for (std::size_t step = 0; step < steps; ++step) {
    found.push_back(delay.seconds(step, 0) * 1e3);
  }
  return found;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

TEST(Delay, HasItsMeanIfPareto) {
  // Of these shapes the variance is finite: mean^2 / (shape (shape - 2)).
  for (const double shape : {2.5, 4.0, 20.0}) {
    constexpr std::size_t kSteps = 100'000;
    const auto found = milliseconds_of(Delay(pareto(shape), kSeed, 1), kSteps);

    EXPECT_NEAR(mean_of(found), 20,
                5 * std::sqrt(400 / (shape * (shape - 2)) / double(kSteps)));
  }
}

TEST(Delay, HasTheTailOfItsShapeIfPareto) {
  for (const double shape : {1.2, 2.5, 10.0}) {
    constexpr std::size_t kSteps = 200'000;
    auto found = milliseconds_of(Delay(pareto(shape), kSeed, 1), kSteps);
    std::ranges::sort(found);
    const double least = 20 * (shape - 1) / shape;
    EXPECT_GE(found.front(), least);

    for (const double above : {0.9, 0.5, 0.1, 0.01, 0.001}) {
      const double expected = least * std::pow(above, -1 / shape);
      const double place = (1 - above) * double(kSteps);
      // Five deviations of a quantile: of its place, times how fast the quantile grows.
      const double tolerance =
          5 * expected / shape * std::sqrt((1 - above) / above / double(kSteps));
      EXPECT_NEAR(found[static_cast<std::size_t>(place)], expected, tolerance)
          << shape << " " << above;
    }
  }
}

TEST(Delay, IsAnHourAtMost) {
  const InjectSettings settings = {.delay = "60000",
                                   .delay_kind = DelayKind::pareto,
                                   .pareto_shape = 1.0001,
                                   .slow_rank = 0,
                                   .slow_factor = 1000};
  const Delay delay(settings, kSeed, 0);

  double most = 0;
  for (std::size_t step = 0; step < 10'000; ++step) {
    most = std::max(most, delay.seconds(step, 0));
  }
  EXPECT_EQ(most, 3600);
}

TEST(Delay, IsAllOrNothingIfOnAndOff) {
  const InjectSettings settings = {
      .delay = "20", .delay_kind = DelayKind::on_off, .on_steps = 5, .off_steps = 15};
  constexpr std::size_t kSteps = 100'000;
  const auto found = milliseconds_of(Delay(settings, kSeed, 1), kSteps);

  EXPECT_THAT(found, testing::Each(testing::AnyOf(0, testing::DoubleEq(20))));
  EXPECT_NEAR(mean_of(found), 5, 0.3);
}

TEST(Delay, OfEveryKindIsAFunctionOfSeedRankAndStep) {
  for (const DelayKind kind :
       {DelayKind::gaussian, DelayKind::pareto, DelayKind::on_off}) {
    const InjectSettings settings = {
        .delay = "20", .delay_kind = kind, .on_steps = 3, .off_steps = 3};
    const auto expected = milliseconds_of(Delay(settings, kSeed, 1), 100);

    EXPECT_EQ(milliseconds_of(Delay(settings, kSeed, 1), 100), expected);
    EXPECT_NE(milliseconds_of(Delay(settings, kSeed, 2), 100), expected);
    EXPECT_NE(milliseconds_of(Delay(settings, kSeed + 1, 1), 100), expected);
    const Delay late(settings, kSeed, 1);
    for (const std::size_t step : {99u, 3u, 50u}) {
      EXPECT_EQ(late.seconds(step, 0) * 1e3, expected[step]) << choice_name(kind);
    }
  }
}

/// By the correlation of logarithms, which have a variance whatever the tail.
TEST(Delay, OfRanksIsIndependent) {
  constexpr std::size_t kSteps = 50'000;
  const auto one = milliseconds_of(Delay(pareto(2.5), kSeed, 0), kSteps),
             other = milliseconds_of(Delay(pareto(2.5), kSeed, 1), kSteps);
  // The logarithm of (delay / least) is exponential, with mean and deviation 1 / shape.
  double product = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    product += (2.5 * std::log(one[i] / 12) - 1) * (2.5 * std::log(other[i] / 12) - 1);
  }

  EXPECT_NEAR(product / double(kSteps), 0, 5 / std::sqrt(double(kSteps)));
}

TEST(Delay, OfTheSlowRankIsLongerByItsFactorWhateverTheKind) {
  for (const DelayKind kind :
       {DelayKind::constant, DelayKind::gaussian, DelayKind::pareto, DelayKind::on_off}) {
    InjectSettings settings = {.delay = "20", .delay_kind = kind};
    const auto usual = milliseconds_of(Delay(settings, kSeed, 1), 50);
    settings.slow_rank = 1;
    settings.slow_factor = 3;
    const auto slow = milliseconds_of(Delay(settings, kSeed, 1), 50);

    for (std::size_t i = 0; i < 50; ++i)
      EXPECT_NEAR(slow[i], 3 * usual[i], 1e-9) << choice_name(kind);
  }
}

TEST(Delay, OfEveryKindIsNoneWithoutOne) {
  for (const DelayKind kind :
       {DelayKind::constant, DelayKind::gaussian, DelayKind::pareto, DelayKind::on_off}) {
    const Delay delay({.delay_kind = kind}, kSeed, 1);
    EXPECT_THAT(milliseconds_of(delay, 50), testing::Each(0)) << choice_name(kind);
  }
}

TEST(Delay, IsNeverNegative) {
  const InjectSettings settings = {
      .delay = "1", .delay_kind = DelayKind::gaussian, .sigma_ms = 100};
  const Delay delay(settings, kSeed, 1);

  for (std::size_t step = 0; step < 100; ++step) EXPECT_GE(delay.seconds(step, 0), 0);
}

TEST(Delay, OfTheSlowRankIsLongerByItsFactor) {
  const InjectSettings settings = {.delay = "small", .slow_rank = 2, .slow_factor = 6};

  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 2).seconds(0, 1), 0.060);
  EXPECT_DOUBLE_EQ(Delay(settings, kSeed, 1).seconds(0, 1), 0.010);
}

TEST(Delay, OfTheSlowRankIsLongerByItsMillisecondsAlsoAlone) {
  for (const auto& [others, slow] : {std::pair("none", 0.06), std::pair("10", 0.07)}) {
    const InjectSettings settings = {.delay = others, .slow_rank = 2, .slow_ms = 60};

    EXPECT_DOUBLE_EQ(Delay(settings, 1, 2).seconds(5, 1.5), slow);
    EXPECT_NEAR(Delay(settings, 1, 1).seconds(5, 1.5), slow - 0.06, 1e-12);
  }
}

TEST(Delay, OfTheSlowRankInMillisecondsIsOfTheSameKind) {
  InjectSettings settings = {.delay_kind = DelayKind::gaussian, .slow_rank = 0};
  settings.slow_ms = 60;
  InjectSettings all = settings;
  all.delay = "60";
  all.slow_ms = 0;
  all.slow_rank = -1;

  for (const std::size_t step : {0u, 1u, 2u}) {
    EXPECT_EQ(Delay(settings, 1, 0).seconds(step, 1), Delay(all, 1, 0).seconds(step, 1));
  }
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

TEST(ComputeTimer, HasDelaysSleptBeforeTheLastGradientOfAStepIsPassedOn) {
  Arrivals arrivals;
  DelayInjector delays(Delay({.delay = "40"}, kSeed, 0));
  ComputeTimer timer(arrivals, /*segments=*/3, delays);

  timer.begin(0);
  arrivals.watch.restart();
  for (std::size_t i = 0; i < 3; ++i) timer.gradient_ready(SegmentId{i});

  ASSERT_EQ(arrivals.at.size(), 3u);
  EXPECT_LT(arrivals.at[1], 0.040);
  EXPECT_GE(arrivals.at[2], 0.040);
  EXPECT_GE(timer.seconds(), delays.last_seconds_slept());
}

TEST(DelayInjector, CountsWhatItSlept) {
  DelayInjector delays(Delay({.delay = "15"}, kSeed, 0));

  const Stopwatch watch;
  double slept = 0;
  for (std::size_t step = 0; step < 3; ++step) {
    delays.sleep(step, /*computed=*/0);
    EXPECT_GE(delays.last_seconds_slept(), 0.015);
    slept += delays.last_seconds_slept();
  }

  EXPECT_DOUBLE_EQ(delays.seconds_slept(), slept);
  EXPECT_LE(delays.seconds_slept(), watch.seconds());
}

TEST(DelayInjector, WithoutADelaySleepsNothing) {
  DelayInjector delays(Delay({}, kSeed, 0));

  delays.sleep(0, /*computed=*/1);

  EXPECT_EQ(delays.seconds_slept(), 0);
  EXPECT_EQ(delays.last_seconds_slept(), 0);
}

}  // namespace
}  // namespace convoy
