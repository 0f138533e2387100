// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/normalization.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

TEST(Normalization, IsExactOnAFewPixels) {
  const Dataset data{.shape = {1, 1, 3}, .images = {51, 102, 153}, .labels = {0}};
  const Normalization found = measure(data);

  ASSERT_EQ(found.moments.size(), 1u);
  EXPECT_DOUBLE_EQ(found.moments[0].mean, 0.4);
  EXPECT_DOUBLE_EQ(found.moments[0].deviation, std::sqrt(2.0 / 3) * 0.2);
}

TEST(Normalization, OfChannelsMeasuresEachOverAllSamples) {
  const Dataset data{.shape = {2, 1, 1}, .images = {0, 51, 255, 153}, .labels = {0, 0}};
  const Normalization found = measure_channels(data);

  ASSERT_EQ(found.moments.size(), 2u);
  EXPECT_DOUBLE_EQ(found.of(0).mean, 0.5);
  EXPECT_DOUBLE_EQ(found.of(0).deviation, 0.5);
  EXPECT_DOUBLE_EQ(found.of(1).mean, 0.4);
  EXPECT_DOUBLE_EQ(found.of(1).deviation, 0.2);
}

TEST(Normalization, OfOneChannelIsTheSameEitherWay) {
  const Dataset data{.shape = {1, 2, 1}, .images = {0, 51, 255, 9}, .labels = {0, 0}};

  EXPECT_EQ(measure_channels(data), measure(data));
}

TEST(Normalization, OfAllFitsAnyImagesAndOfChannelsOnlyTheirNumber) {
  const Normalization all, three = {.moments = {{0, 1}, {0, 1}, {0, 1}}};

  EXPECT_TRUE(all.fits({1, 2, 2}));
  EXPECT_TRUE(all.fits({3, 2, 2}));
  EXPECT_TRUE(three.fits({3, 2, 2}));
  EXPECT_FALSE(three.fits({1, 2, 2}));
}

TEST(Normalization, RefusesPixelsThatAreAllAlike) {
  const Dataset data{.name = "flat", .shape = {1, 1, 2}, .images = {9, 9}, .labels = {0}};

  expect_error(InputKind::data, {"dataset flat", "every pixel is 9"},
               [&] { measure(data); });
}

TEST(Normalization, RefusesAChannelWhosePixelsAreAllAlike) {
  const Dataset data{
      .name = "flat", .shape = {2, 1, 2}, .images = {1, 2, 9, 9}, .labels = {0}};

  expect_error(InputKind::data, {"dataset flat, channel 1", "every pixel is 9"},
               [&] { measure_channels(data); });
}

TEST(Normalization, OfFloatsNeedsPixelsThatDiffer) {
  const Dataset data{.name = "flat",
                     .shape = {1, 1, 2},
                     .images = std::vector<float>{0.5, 0.5},
                     .labels = {0}};

  expect_error(InputKind::data, {"dataset flat", "every pixel is 0.5"},
               [&] { measure(data); });
}

}  // namespace
}  // namespace convoy
