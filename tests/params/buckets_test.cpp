// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

using testing::ElementsAre;

const std::vector<std::uint64_t> kUnits = {64, 128, 64, 256};

TEST(Buckets, AreFilledFromTheLastUnit) {
  EXPECT_THAT(cut_into_buckets(kUnits, 192),
              ElementsAre(UnitBucket{{3, 4}, 256}, UnitBucket{{1, 3}, 192},
                          UnitBucket{{0, 1}, 64}));
}

TEST(Buckets, AreOnePerUnitIfSmallAndOneForAllIfLarge) {
  EXPECT_EQ(cut_into_buckets(kUnits, 1).size(), kUnits.size());
  EXPECT_THAT(cut_into_buckets(kUnits, 1 << 20), ElementsAre(UnitBucket{{0, 4}, 512}));
}

}  // namespace
}  // namespace convoy
