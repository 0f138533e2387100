// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/moving_average.h"

#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "tests/params/one_segment.h"

namespace convoy {
namespace {

// More than two of the chunks that a task takes, and no multiple of anything.
constexpr std::size_t kAveraged = 40'003;

void fill_values(std::uint32_t label, FlatBuffer& buffer) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer.data()[i] = random.uniform(i);
}

TEST(MovingAverage, StartsFromTheNumbersAndFollowsThem) {
  const Layout layout = one_segment(kAveraged);
  ThreadTeam team(2);
  MovingAverage average(layout, 0.75, team);
  FlatBuffer numbers(layout);
  std::vector<double> expected(kAveraged);
  for (std::uint32_t step = 0; step < 4; ++step) {
    fill_values(step, numbers);
    average.update(step, {0, kAveraged}, numbers);
    for (std::size_t i = 0; i < kAveraged; ++i) {
      const double now = numbers.data()[i];
      expected[i] = step == 0 ? now : 0.75 * expected[i] + 0.25 * now;
    }
  }

  for (std::size_t i = 0; i < kAveraged; ++i) {
    ASSERT_NEAR(average.average().data()[i], expected[i], 1e-6) << "element " << i;
  }
}

TEST(MovingAverage, WithoutADecayIsTheMean) {
  const Layout layout = one_segment(kAveraged);
  ThreadTeam team(2);
  MovingAverage average(layout, std::nullopt, team);
  FlatBuffer numbers(layout);
  std::vector<double> sum(kAveraged);
  for (std::uint32_t count = 0; count < 5; ++count) {
    fill_values(count, numbers);
    average.update(count, {0, kAveraged}, numbers);
    for (std::size_t i = 0; i < kAveraged; ++i) sum[i] += numbers.data()[i];
  }

  for (std::size_t i = 0; i < kAveraged; ++i) {
    ASSERT_NEAR(average.average().data()[i], sum[i] / 5, 1e-6) << "element " << i;
  }
}

TEST(MovingAverage, IsTheSameInPartsAndOnAnyNumberOfThreads) {
  const Layout layout = one_segment(kAveraged);
  ThreadTeam team(3), alone(1);
  MovingAverage whole(layout, 0.9, team), parts(layout, 0.9, alone);
  FlatBuffer numbers(layout);
  for (std::uint32_t step = 0; step < 3; ++step) {
    fill_values(step, numbers);
    whole.update(step, {0, kAveraged}, numbers);
    parts.update(step, {17'001, kAveraged}, numbers);
    parts.update(step, {0, 17'001}, numbers);
  }

  EXPECT_EQ(weights_sha256(layout, whole.average()),
            weights_sha256(layout, parts.average()));
}

}  // namespace
}  // namespace convoy
