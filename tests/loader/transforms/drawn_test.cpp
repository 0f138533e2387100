// SPDX-License-Identifier: Apache-2.0
//
// What is drawn for images and batches: its distribution, and what it follows from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "convoy/loader/augmentation.h"
#include "convoy/loader/transforms/batch_mixer.h"
#include "convoy/loader/transforms/colour_jitter.h"
#include "convoy/loader/transforms/rand_augment.h"
#include "convoy/loader/transforms/random_erasing.h"

namespace convoy {
namespace {

constexpr std::uint32_t kDraws = 4000;

TEST(RandAugment, DrawsEachOfFourteenOperationsAlike) {
  std::map<ImageOperation, int> counts, negative;
  for (std::uint32_t sample = 0; sample < kDraws; ++sample) {
    const RandomStream stream = AugmentKey{3, 1, sample}.stream();
    for (const int number : {0, 1}) {
      const DrawnOperation drawn = draw_operation({2, 9}, {224, 224}, stream, number);
      ++counts[drawn.operation];
      negative[drawn.operation] += std::signbit(drawn.magnitude) ? 1 : 0;
    }
  }

  ASSERT_EQ(counts.size(), 14u);
  for (const auto& [operation, count] : counts) {
    EXPECT_NEAR(count, 2 * kDraws / 14, 90);
    const int half = has_sign(operation) ? count / 2 : 0;
    EXPECT_NEAR(negative[operation], half, 60);
  }
}

TEST(ColourJitter, HasAllOrdersAndFactorsOfItsRanges) {
  std::map<std::array<std::uint8_t, 4>, int> orders;
  for (std::uint32_t sample = 0; sample < kDraws; ++sample) {
    const DrawnJitter drawn =
        draw_jitter({0.4, 2, 0, 0.1}, AugmentKey{3, 1, sample}.stream());
    ++orders[drawn.order];
    ASSERT_TRUE(drawn.factors[0] >= 0.6 && drawn.factors[0] <= 1.4);
    ASSERT_TRUE(drawn.factors[1] >= 0 && drawn.factors[1] <= 3);
    ASSERT_TRUE(drawn.factors[2] == 1);
    ASSERT_LE(std::abs(drawn.factors[3]), 0.1);
  }

  EXPECT_EQ(orders.size(), 24u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, kDraws / 24, 60);
}

TEST(RandomErasing, HasTheAreasAndRatiosOfTorchvision) {
  std::uint32_t erased = 0;
  for (std::uint32_t sample = 0; sample < kDraws; ++sample) {
    const auto box = draw_erased_box(0.25, {224, 200}, AugmentKey{3, 1, sample}.stream());
    if (!box) continue;
    ++erased;
    const double area = box->width * box->height / (224.0 * 200);
    ASSERT_TRUE(area > 0.018 && area < 0.35) << area;
    const double ratio = static_cast<double>(box->height) / box->width;
    ASSERT_TRUE(ratio > 0.28 && ratio < 3.5) << ratio;
    ASSERT_TRUE(box->left >= 0 && box->left + box->width <= 224);
    ASSERT_TRUE(box->top >= 0 && box->top + box->height <= 200);
  }
  EXPECT_NEAR(erased, kDraws / 4, 90);
}

TEST(RandomErasing, SetsABoxOfEveryChannelToZero) {
  std::vector<float> image(2 * 3 * 4, 1.0f);
  erase(image, {2, 3, 4}, {1, 1, 2, 2});

  EXPECT_THAT(image, testing::ElementsAre(1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1,  //
                                          1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1));
}

/// Mean and variance of Beta(alpha, alpha) are 1/2 and 1 / (8 alpha + 4).
TEST(BatchMix, HasTheWeightsOfABetaDistribution) {
  for (const double alpha : {0.2, 1.0, 3.0}) {
    double sum = 0, squares = 0;
    const BatchMixer mixer({alpha, 0}, {3, 8, 8}, 10, {.seed = 5});
    for (std::size_t batch = 0; batch < kDraws; ++batch) {
      const double own = mixer.mix_of(1, batch).own;
      ASSERT_TRUE(own >= 0 && own <= 1);
      sum += own;
      squares += (own - 0.5) * (own - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.025) << alpha;
    EXPECT_NEAR(squares / kDraws, 1 / (8 * alpha + 4), 0.008) << alpha;
  }
}

TEST(BatchMix, IsMixupOrCutmixOfEachBatch) {
  const BatchMixer mixer({0.2, 1}, {3, 8, 8}, 10, {.seed = 5});
  int cut = 0;
  for (std::size_t batch = 0; batch < kDraws; ++batch) {
    cut += mixer.mix_of(2, batch).pasted ? 1 : 0;
  }

  EXPECT_NEAR(cut, kDraws / 2, 130);
  EXPECT_EQ(mixer.mix_of(2, 7), mixer.mix_of(2, 7));
  EXPECT_NE(mixer.mix_of(2, 7), mixer.mix_of(3, 7));
}

TEST(BatchMix, OfCutmixWeighsThePixelsThatRemain) {
  // Half of sqrt(1 - 0.75) is a quarter of the sides, cut off at the edges.
  EXPECT_EQ(cutmix_of(0.75, {8, 16}, 1, 8),
            (BatchMix{1 - 3 * 8 / 128.0, Box{0, 4, 3, 8}}));
  EXPECT_EQ(cutmix_of(1, {8, 16}, 3, 3).own, 1);
}

TEST(BatchMix, OfImagesAddsOrPastes) {
  const std::vector<float> before{10, 20, 30, 40};
  std::vector<float> image{1, 2, 3, 4};
  mix_images(mixup_of(0.75), {1, 2, 2}, before, image);
  EXPECT_THAT(image, testing::ElementsAre(3.25f, 6.5f, 9.75f, 13));

  mix_images({0.5, Box{1, 0, 1, 2}}, {1, 2, 2}, before, image);
  EXPECT_THAT(image, testing::ElementsAre(3.25f, 20, 9.75f, 40));
}

TEST(BatchMix, OfLabelsIsADistributionWhoseLargestCounts) {
  std::vector<float> all(4);
  EXPECT_EQ(mix_labels(mixup_of(0.75), 1, 3, all), 3);
  EXPECT_THAT(all, testing::ElementsAre(0, 0.25f, 0, 0.75f));
  EXPECT_EQ(mix_labels(mixup_of(0.25), 1, 3, all), 1);
  EXPECT_EQ(mix_labels(mixup_of(0.5), 3, 1, all), 1);
  EXPECT_EQ(mix_labels(mixup_of(0.25), 2, 2, all), 2);
  EXPECT_THAT(all, testing::ElementsAre(0, 0, 1, 0));
}

}  // namespace
}  // namespace convoy
