// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/staleness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

TEST(Staleness, IsZeroBeforeTheFirstUpdate) {
  const StalenessCounts counts;
  EXPECT_EQ(counts.count(), 0u);
  EXPECT_EQ(counts.mean(), 0);
  EXPECT_THAT(counts.bins(), IsEmpty());
}

TEST(Staleness, HasMeanAndMaximum) {
  StalenessCounts counts;
  for (const std::uint64_t staleness : {1, 0, 7, 1, 1, 1}) counts.add(staleness);
  EXPECT_EQ(counts.count(), 6u);
  EXPECT_DOUBLE_EQ(counts.mean(), 11.0 / 6);
  EXPECT_EQ(counts.max(), 7u);
}

TEST(Staleness, IsCountedExactlyUpTo63ThenByPowersOfTwo) {
  StalenessCounts counts;
  for (const std::uint64_t staleness : {0, 2, 2, 62, 63, 64, 127, 128, 255, 256}) {
    counts.add(staleness);
  }
  EXPECT_THAT(
      counts.bins(),
      ElementsAre(StalenessBin{0, 0, 1}, StalenessBin{2, 2, 2}, StalenessBin{62, 62, 1},
                  StalenessBin{63, 63, 1}, StalenessBin{64, 127, 2},
                  StalenessBin{128, 255, 2}, StalenessBin{256, 511, 1}));
}

TEST(Staleness, HasABinForTheLargest) {
  StalenessCounts counts;
  counts.add(kLast);
  EXPECT_THAT(counts.bins(), ElementsAre(StalenessBin{std::uint64_t{1} << 63, kLast, 1}));
}

TEST(Staleness, IsKeptOfAllOfEachWorkerAndOfAWindow) {
  StalenessRecord record(2);
  record.add(0, 1);
  record.add(1, 4);
  EXPECT_EQ(record.window().count(), 2u);
  record.start_window();
  record.add(0, 2);

  EXPECT_EQ(record.all().count(), 3u);
  EXPECT_EQ(record.all().max(), 4u);
  EXPECT_EQ(record.of(0).mean(), 1.5);
  EXPECT_EQ(record.of(1).mean(), 4);
  EXPECT_EQ(record.window().count(), 1u);
  EXPECT_EQ(record.window().max(), 2u);
  EXPECT_THAT(record.window().bins(), ElementsAre(StalenessBin{2, 2, 1}));
}

}  // namespace
}  // namespace convoy
