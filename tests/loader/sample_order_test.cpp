// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/sample_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

using Samples = std::vector<std::uint32_t>;

const Samples kSamples{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

Samples order_of(SampleOrder& order, int epoch) {
  order.start_epoch(epoch);
  const auto samples = order.at({0, order.size()});
  return {samples.begin(), samples.end()};
}

TEST(SampleOrder, IsAPermutationThatDiffersBetweenEpochs) {
  SampleOrder order(kSamples, /*seed=*/1, /*shuffle=*/true);
  const Samples first = order_of(order, 0);
  const Samples second = order_of(order, 1);

  EXPECT_THAT(first, testing::UnorderedElementsAreArray(kSamples));
  EXPECT_THAT(second, testing::UnorderedElementsAreArray(kSamples));
  EXPECT_NE(first, second);
  EXPECT_NE(first, kSamples);
}

TEST(SampleOrder, IsAFunctionOfSeedAndEpochAlone) {
  SampleOrder order(kSamples, /*seed=*/1, /*shuffle=*/true);
  SampleOrder same(kSamples, /*seed=*/1, /*shuffle=*/true);
  SampleOrder other(kSamples, /*seed=*/2, /*shuffle=*/true);
  order_of(same, 4);  // what came before does not matter

  EXPECT_EQ(order_of(order, 3), order_of(same, 3));
  EXPECT_NE(order_of(order, 3), order_of(other, 3));
}

TEST(SampleOrder, StaysAsGivenWithoutShuffling) {
  SampleOrder order(kSamples, /*seed=*/1, /*shuffle=*/false);

  EXPECT_EQ(order_of(order, 5), kSamples);
}

TEST(SampleOrder, GivesEachRankItsPositions) {
  SampleOrder order(kSamples, /*seed=*/1, /*shuffle=*/true);
  const Samples whole = order_of(order, 0);
  Samples joined;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const auto part = order.at(even_part(order.size(), 5, rank));
    joined.insert(joined.end(), part.begin(), part.end());
  }

  EXPECT_EQ(joined, whole);
}

TEST(SampleOrder, DiffersBetweenWorkersOfWhichTheFirstHasTheOrderOfOneAlone) {
  SampleOrder alone(kSamples, /*seed=*/1, /*shuffle=*/true);
  SampleOrder first(kSamples, 1, true, /*worker=*/0),
      second(kSamples, 1, true, /*worker=*/1);

  EXPECT_EQ(order_of(first, 3), order_of(alone, 3));
  EXPECT_NE(order_of(second, 3), order_of(alone, 3));
  EXPECT_THAT(order_of(second, 3), testing::UnorderedElementsAreArray(kSamples));
}

/// Seeds make the runs of yesterday: their orders never change.
TEST(SampleOrder, IsThatOfTheFirstRelease) {
  SampleOrder order(kSamples, /*seed=*/1, /*shuffle=*/true);

  EXPECT_THAT(order_of(order, 1),
              testing::ElementsAre(31, 17, 23, 5, 19, 13, 37, 2, 29, 7, 11, 3));
}

const Parts kThreeParts({1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 21, 22, 23, 24, 25},
                        {{0, 5}, {5, 10}, {10, 15}});

TEST(SampleOrder, GoesThroughPartsSideBySide) {
  SampleOrder order(kThreeParts, /*slice=*/2, /*seed=*/1, /*shuffle=*/false);

  EXPECT_THAT(order_of(order, 1), testing::ElementsAre(1, 2, 11, 12, 21, 22,  //
                                                       3, 4, 13, 14, 23, 24,  //
                                                       5, 15, 25));
}

TEST(SampleOrder, ShufflesEachPartAsItsWorkerWould) {
  SampleOrder order(kThreeParts, /*slice=*/2, /*seed=*/7, /*shuffle=*/true);
  const Samples whole = order_of(order, 4);

  for (std::uint32_t part = 0; part < 3; ++part) {
    const Samples own = epoch_order(kThreeParts[part], 7, 4, part);
    EXPECT_THAT(own, testing::UnorderedElementsAreArray(kThreeParts[part]));
    const Samples found = {whole[2 * part], whole[2 * part + 1], whole[6 + 2 * part],
                           whole[6 + 2 * part + 1], whole[12 + part]};
    EXPECT_EQ(found, own);
  }
}

TEST(SampleOrder, OfPartsThatShareTheirSamplesShufflesThemDifferently) {
  const Parts shared(kSamples, {{0, kSamples.size()}, {0, kSamples.size()}});
  SampleOrder order(shared, /*slice=*/kSamples.size(), /*seed=*/1, /*shuffle=*/true);
  const Samples whole = order_of(order, 1);
  const auto half = static_cast<long>(kSamples.size());

  EXPECT_EQ(order.size(), 2 * kSamples.size());
  EXPECT_NE(Samples(whole.begin(), whole.begin() + half),
            Samples(whole.begin() + half, whole.end()));
}

TEST(Split, UsesEverythingByDefault) {
  const Split split = split_samples(4, {});

  EXPECT_THAT(split.train, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(split.validation, testing::IsEmpty());
}

TEST(Split, IsDisjointAscendingAndOfTheAskedForSizes) {
  const Split split = split_samples(1000, {.train_fraction = 0.5, .val_fraction = 0.1});

  EXPECT_EQ(split.validation.size(), 100u);
  EXPECT_EQ(split.train.size(), 450u);
  EXPECT_TRUE(std::ranges::is_sorted(split.train));
  EXPECT_TRUE(std::ranges::is_sorted(split.validation));
  Samples both;
  std::ranges::set_intersection(split.train, split.validation, std::back_inserter(both));
  EXPECT_THAT(both, testing::IsEmpty());
}

TEST(Split, HoldsOutTheSameForAnyTrainFraction) {
  const Split all = split_samples(1000, {.val_fraction = 0.1});
  const Split few = split_samples(1000, {.train_fraction = 0.2, .val_fraction = 0.1});

  EXPECT_EQ(all.validation, few.validation);
  EXPECT_TRUE(std::ranges::includes(all.train, few.train));
}

TEST(Split, FollowsTheSeed) {
  const SplitOptions options{.val_fraction = 0.5, .seed = 3};
  const SplitOptions other{.val_fraction = 0.5, .seed = 4};

  EXPECT_EQ(split_samples(100, options).train, split_samples(100, options).train);
  EXPECT_NE(split_samples(100, options).train, split_samples(100, other).train);
}

TEST(Split, RefusesFractionsOutOfRangeOrTooSmall) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const SplitOptions& options :
       {SplitOptions{.train_fraction = 0}, SplitOptions{.train_fraction = 1.1},
        SplitOptions{.train_fraction = nan}, SplitOptions{.val_fraction = 1},
        SplitOptions{.val_fraction = -0.1}, SplitOptions{.train_fraction = 0.01},
        SplitOptions{.val_fraction = 0.01}, SplitOptions{.val_fraction = 0.99}}) {
    EXPECT_THROW(split_samples(10, options), InputError)
        << options.train_fraction << " " << options.val_fraction;
  }
}

}  // namespace
}  // namespace convoy
