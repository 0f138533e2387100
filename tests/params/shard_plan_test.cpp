// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/shard_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace convoy {
namespace {

using testing::ElementsAre;

Layout units_of(const std::vector<std::size_t>& sizes) {
  LayoutBuilder builder(/*unit_multiple=*/1);
  for (const std::size_t size : sizes) {
    builder.begin_unit();
    builder.add("unit" + std::to_string(size), {size}, Role::weight);
  }
  return std::move(builder).build();
}

TEST(ShardPlan, CutsAUnitEvenlyAtGranules) {
  const ShardPlan plan(units_of({64}), 4, 8);

  EXPECT_THAT(plan.parts(UnitId{0}),
              ElementsAre(Range{0, 16}, Range{16, 32}, Range{32, 48}, Range{48, 64}));
  EXPECT_THAT(plan.owners(), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST(ShardPlan, GivesAGranuleOfTwoUnitsToOneRank) {
  const ShardPlan plan(units_of({20, 33, 3}), 2, 8);

  EXPECT_THAT(plan.parts(UnitId{0}), ElementsAre(Range{0, 8}, Range{8, 20}));
  EXPECT_THAT(plan.parts(UnitId{1}), ElementsAre(Range{40, 53}, Range{20, 40}));
  EXPECT_THAT(plan.parts(UnitId{2}), ElementsAre(Range{53, 56}, Range{56, 56}));
  EXPECT_THAT(plan.ranges_of(0), ElementsAre(Range{0, 8}, Range{40, 56}));
  EXPECT_EQ(plan.size_of(0) + plan.size_of(1), 56u);
}

/// Whatever the sizes: every element has one owner, who has its whole granule.
TEST(ShardPlan, GivesEveryGranuleToOneRank) {
  const Layout layout = units_of({1, 100, 7, 0, 64, 1000, 15, 16, 17, 333});
  for (const int ranks : {1, 2, 3, 4, 8}) {
    for (const std::size_t granule : {1u, 16u, 50u}) {
      const ShardPlan plan(layout, ranks, granule);
      std::vector<int> owner(layout.size(), -1);
      for (std::size_t unit = 0; unit < layout.unit_count(); ++unit) {
        for (int rank = 0; rank < ranks; ++rank) {
          const Range part = plan.part(UnitId{unit}, rank);
          for (std::size_t i = part.begin; i < part.end; ++i) {
            EXPECT_EQ(owner[i], -1);
            owner[i] = rank;
          }
        }
      }
      for (std::size_t i = 0; i < layout.size(); ++i) {
        ASSERT_EQ(owner[i], plan.owners()[i / granule]) << i << ", ranks " << ranks;
      }
    }
  }
}

TEST(ShardPlan, DividesALargeLayoutNearlyEvenly) {
  const Layout layout = units_of({999'000, 5'000, 2'000'000, 300, 1'500'001});
  const ShardPlan plan(layout, 4, 16 << 10);

  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(static_cast<double>(plan.size_of(rank)),
                static_cast<double>(layout.size()) / 4, 40'000);
  }
}

}  // namespace
}  // namespace convoy
