// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/lane_tree.h"

#include <gmock/gmock.h>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LaneTree, SplitsAtTheLargestPowerOfTwoBelowTheCount) {
  EXPECT_EQ(tree_split({0, 2}), 1u);
  EXPECT_EQ(tree_split({0, 3}), 2u);
  EXPECT_EQ(tree_split({0, 4}), 2u);
  EXPECT_EQ(tree_split({0, 5}), 4u);
  EXPECT_EQ(tree_split({0, 17}), 16u);
  EXPECT_EQ(tree_split({16, 19}), 18u);
}

TEST(LaneTree, GivesTheWholeToWhoHasAll) {
  EXPECT_THAT(whole_subtrees(5, {0, 5}), ElementsAre(Range{0, 5}));
  EXPECT_THAT(whole_subtrees(1, {0, 1}), ElementsAre(Range{0, 1}));
}

TEST(LaneTree, GivesTheLargestSubtreesOfAPart) {
  EXPECT_THAT(whole_subtrees(8, {0, 3}), ElementsAre(Range{0, 2}, Range{2, 3}));
  EXPECT_THAT(whole_subtrees(8, {3, 6}), ElementsAre(Range{3, 4}, Range{4, 6}));
  EXPECT_THAT(whole_subtrees(5, {3, 5}), ElementsAre(Range{3, 4}, Range{4, 5}));
  EXPECT_THAT(whole_subtrees(7, {4, 7}), ElementsAre(Range{4, 7}));
}

TEST(LaneTree, CoversEachPartOnce) {
  for (std::size_t lanes = 1; lanes <= 17; ++lanes) {
    for (std::size_t begin = 0; begin < lanes; ++begin) {
      for (std::size_t end = begin + 1; end <= lanes; ++end) {
        std::size_t next = begin;
        for (const Range subtree : whole_subtrees(lanes, {begin, end})) {
          EXPECT_EQ(subtree.begin, next);
          next = subtree.end;
        }
        EXPECT_EQ(next, end);
      }
    }
  }
}

TEST(LaneTree, GivesNothingForNoLanes) {
  EXPECT_THAT(whole_subtrees(4, {2, 2}), IsEmpty());
  EXPECT_THAT(whole_subtrees(0, {0, 0}), IsEmpty());
}

}  // namespace
}  // namespace convoy
