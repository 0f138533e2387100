// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/augmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace convoy {
namespace {

constexpr std::uint32_t kAugmented = 9000;

TEST(Augmentation, OfNoneShowsTheImageAsItIs) {
  EXPECT_EQ(view_of(Augmentation::none, 1, 5, 7), View{});
}

TEST(Augmentation, MovesAlikeOftenByEachShiftBothWays) {
  std::array<int, 9> down{}, right{};
  for (std::uint32_t sample = 0; sample < kAugmented; ++sample) {
    const View view = view_of(Augmentation::crop_flip, 1, 1, sample);
    ++down.at(static_cast<std::size_t>(view.down + 4));
    ++right.at(static_cast<std::size_t>(view.right + 4));
  }

  EXPECT_THAT(down, testing::Each(testing::AllOf(testing::Gt(850), testing::Lt(1150))));
  EXPECT_THAT(right, testing::Each(testing::AllOf(testing::Gt(850), testing::Lt(1150))));
}

TEST(Augmentation, MirrorsHalfOfTheSamples) {
  for (const Augmentation kind :
       {Augmentation::crop_flip, Augmentation::crop_alternate}) {
    int mirrored = 0;
    for (std::uint32_t sample = 0; sample < kAugmented; ++sample) {
      mirrored += view_of(kind, 1, 1, sample).mirrored ? 1 : 0;
    }
    EXPECT_NEAR(mirrored, 4500, 250);
  }
}

/// In how many of many samples the views of two keys are alike.
int alike(Augmentation kind, std::uint64_t seed, int epoch) {
  int count = 0;
  for (std::uint32_t sample = 0; sample < kAugmented; ++sample) {
    count += view_of(kind, 1, 1, sample) == view_of(kind, seed, epoch, sample) ? 1 : 0;
  }
  return count;
}

TEST(Augmentation, DiffersByEpochAndSeed) {
  const int by_chance = kAugmented / (9 * 9 * 2);

  EXPECT_EQ(alike(Augmentation::crop_flip, 1, 1), static_cast<int>(kAugmented));
  EXPECT_NEAR(alike(Augmentation::crop_flip, 1, 2), by_chance, 40);
  EXPECT_NEAR(alike(Augmentation::crop_flip, 2, 1), by_chance, 40);
}

TEST(Augmentation, AlternatesMirroringFromEpochToEpoch) {
  for (std::uint32_t sample = 0; sample < 100; ++sample) {
    const bool first = view_of(Augmentation::crop_alternate, 1, 0, sample).mirrored;
    for (int epoch = 1; epoch < 6; ++epoch) {
      EXPECT_EQ(view_of(Augmentation::crop_alternate, 1, epoch, sample).mirrored,
                epoch % 2 == 0 ? first : !first);
    }
  }
}

TEST(Augmentation, AlternatingMovesByTwoPixelsAtMost) {
  std::array<int, 5> down{};
  for (std::uint32_t sample = 0; sample < kAugmented; ++sample) {
    ++down.at(static_cast<std::size_t>(
        view_of(Augmentation::crop_alternate, 1, 3, sample).down + 2));
  }
  EXPECT_THAT(down, testing::Each(testing::AllOf(testing::Gt(1600), testing::Lt(2000))));
}

}  // namespace
}  // namespace convoy
