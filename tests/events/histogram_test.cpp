// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy {
namespace {

Histogram histogram_of(const std::vector<float>& numbers) {
  return make_histogram(numbers);
}

std::size_t counted(const Histogram& histogram) {
  std::size_t count = 0;
  for (const HistogramBucket& bucket : histogram.buckets) count += bucket.count;
  return count;
}

TEST(Histogram, SumsUpItsNumbers) {
  const Histogram histogram = histogram_of({3, -1, 0.5f, 0});

  EXPECT_EQ(histogram.count, 4u);
  EXPECT_EQ(histogram.least, -1);
  EXPECT_EQ(histogram.most, 3);
  EXPECT_EQ(histogram.sum, 2.5);
  EXPECT_EQ(histogram.sum_of_squares, 10.25);
  EXPECT_EQ(counted(histogram), 4u);
}

TEST(Histogram, HasEveryNumberBetweenTheLimitsOfItsBucket) {
  for (const float number : {-1e30f, -7.0f, -1e-20f, 0.0f, 1e-20f, 1e-12f, 0.1f, 5e9f}) {
    const Histogram histogram = histogram_of({number});
    ASSERT_LE(histogram.buckets.size(), 2u);
    EXPECT_EQ(histogram.buckets.back().count, 1u);
    EXPECT_LT(number, histogram.buckets.back().limit);
    const double before = histogram.buckets.front().limit;
    if (histogram.buckets.size() == 2) {
      EXPECT_GE(number, before);
      EXPECT_EQ(histogram.buckets.front().count, 0u);
    }
  }
}

TEST(Histogram, HasLimitsThatGrowByATenth) {
  const Histogram histogram = histogram_of({0.5f, 0.55f, 0.605f, -0.5f});

  ASSERT_TRUE(std::ranges::is_sorted(histogram.buckets, {}, &HistogramBucket::limit));
  const std::size_t last = histogram.buckets.size() - 1;
  for (std::size_t i = last; i > last - 2; --i) {
    EXPECT_NEAR(histogram.buckets[i].limit / histogram.buckets[i - 1].limit, 1.1, 1e-9);
  }
}

TEST(Histogram, IsShortWhereNothingIs) {
  const Histogram histogram = histogram_of({-1e15f, 1e15f});

  EXPECT_EQ(histogram.buckets.size(), 4u) << "empty, -1e15, empty, 1e15";
  EXPECT_EQ(counted(histogram), 2u);
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const float infinite = std::numeric_limits<float>::infinity();
  const Histogram histogram = histogram_of({1, infinite, -infinite, std::nanf(""), 2});

  EXPECT_EQ(histogram.count, 2u);
  EXPECT_EQ(histogram.sum, 3);
  EXPECT_EQ(histogram_of({std::nanf("")}).count, 0u);
  EXPECT_THAT(histogram_of({}).buckets, testing::IsEmpty());
}

}  // namespace
}  // namespace convoy
