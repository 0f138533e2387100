// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/range.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(EvenPart, PartsFollowEachOtherAndCoverEverything) {
  for (std::size_t count = 0; count <= 40; ++count) {
    for (std::size_t parts = 1; parts <= 12; ++parts) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const Range part = even_part(count, parts, i);
        EXPECT_EQ(part.begin, end) << count << " in " << parts;
        end = part.end;
      }
      EXPECT_EQ(end, count) << count << " in " << parts;
    }
  }
}

TEST(EvenPart, PartsDifferByOneAtMostAndEarlierOnesAreLonger) {
  EXPECT_EQ(even_part(10, 4, 0), (Range{0, 3}));
  EXPECT_EQ(even_part(10, 4, 1), (Range{3, 6}));
  EXPECT_EQ(even_part(10, 4, 2), (Range{6, 8}));
  EXPECT_EQ(even_part(10, 4, 3), (Range{8, 10}));
}

TEST(EvenPart, IsEmptyWhereThereIsNothingLeft) {
  EXPECT_EQ(even_part(2, 5, 1).size(), 1u);
  EXPECT_EQ(even_part(2, 5, 2).size(), 0u);
  EXPECT_EQ(even_part(2, 5, 4), (Range{2, 2}));
}

TEST(RoundUp, GivesTheNextMultiple) {
  EXPECT_EQ(round_up(0, 16), 0u);
  EXPECT_EQ(round_up(1, 16), 16u);
  EXPECT_EQ(round_up(16, 16), 16u);
  EXPECT_EQ(round_up(17, 3), 18u);
}

}  // namespace
}  // namespace convoy
