// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace convoy {
namespace {

TEST(Statistics, GivesExactMomentsOfAFewPixels) {
  const Dataset data{.shape = {1, 2, 2}, .images = {0, 255, 0, 255}, .labels = {0}};
  const PixelMoments moments = pixel_moments(data);

  EXPECT_EQ(moments.mean, 0.5);
  EXPECT_EQ(moments.deviation, 0.5);
}

TEST(Statistics, LosesNothingOnManyPixels) {
  const std::size_t count = 20'000'000;  // n times the sum of squares exceeds 64 bits
  std::vector<std::uint8_t> images(count, 254);
  for (std::size_t i = 0; i < count; i += 2) images[i] = 255;
  const Dataset data{.shape = {1, 1, 1}, .images = std::move(images)};
  const PixelMoments moments = pixel_moments(data);

  EXPECT_DOUBLE_EQ(moments.mean, 254.5 / 255);
  EXPECT_DOUBLE_EQ(moments.deviation, 0.5 / 255);
}

TEST(Statistics, TellsChannelsApart) {
  const Dataset data{.shape = {2, 1, 3},
                     .images = {0, 255, 51, 9, 9, 9, 0, 255, 51, 9, 9, 9},
                     .labels = {0, 0}};
  const std::vector<PixelMoments> channels = channel_moments(data);

  ASSERT_EQ(channels.size(), 2u);
  EXPECT_DOUBLE_EQ(channels[0].mean, 0.4);
  EXPECT_DOUBLE_EQ(channels[1].mean, 9.0 / 255);
  EXPECT_EQ(channels[1].deviation, 0);
}

TEST(Statistics, CountsSamplesByLabel) {
  const Dataset data{.classes = {"a", "b", "c"}, .labels = {2, 0, 2}};

  EXPECT_EQ(class_counts(data), (std::vector<std::size_t>{1, 0, 2}));
}

TEST(Statistics, OfFloatsAreThoseOfTheNumbersThemselves) {
  const Dataset data{.shape = {2, 1, 2},
                     .images = std::vector<float>{-1, 3, 7, 7, 1, 5, 7, 7},
                     .labels = {0, 0}};
  const std::vector<PixelMoments> channels = channel_moments(data);

  ASSERT_EQ(channels.size(), 2u);
  EXPECT_DOUBLE_EQ(channels[0].mean, 2);
  EXPECT_DOUBLE_EQ(channels[0].deviation, std::sqrt(5.0));
  EXPECT_EQ(channels[1], (PixelMoments{7, 0}));
  EXPECT_DOUBLE_EQ(pixel_moments(data).mean, 4.5);
  EXPECT_DOUBLE_EQ(pixel_moments(data).deviation, std::sqrt(8.75));
}

TEST(Statistics, OfFloatsThatAreAllAlikeHaveNoDeviation) {
  const Dataset data{.shape = {1, 1, 7}, .images = std::vector<float>(700, 0.1f)};

  EXPECT_EQ(pixel_moments(data), (PixelMoments{0.1f, 0}));
}

}  // namespace
}  // namespace convoy
