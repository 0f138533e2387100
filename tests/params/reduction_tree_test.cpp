// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/reduction_tree.h"

#include <gmock/gmock.h>

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReductionTree, SplitsAtTheLargestPowerOfTwoBelowTheCount) {
  EXPECT_EQ(tree_split({0, 2}), 1u);
  EXPECT_EQ(tree_split({0, 3}), 2u);
  EXPECT_EQ(tree_split({0, 4}), 2u);
  EXPECT_EQ(tree_split({0, 5}), 4u);
  EXPECT_EQ(tree_split({0, 17}), 16u);
  EXPECT_EQ(tree_split({16, 19}), 18u);
}

TEST(ReductionTree, GivesTheWholeToWhoHasAll) {
  EXPECT_THAT(whole_subtrees(5, {0, 5}), ElementsAre(Range{0, 5}));
  EXPECT_THAT(whole_subtrees(1, {0, 1}), ElementsAre(Range{0, 1}));
}

TEST(ReductionTree, GivesTheLargestSubtreesOfAPart) {
  EXPECT_THAT(whole_subtrees(8, {0, 3}), ElementsAre(Range{0, 2}, Range{2, 3}));
  EXPECT_THAT(whole_subtrees(8, {3, 6}), ElementsAre(Range{3, 4}, Range{4, 6}));
  EXPECT_THAT(whole_subtrees(5, {3, 5}), ElementsAre(Range{3, 4}, Range{4, 5}));
  EXPECT_THAT(whole_subtrees(7, {4, 7}), ElementsAre(Range{4, 7}));
}

TEST(ReductionTree, CoversEachPartOnce) {
  for (std::size_t microbatches = 1; microbatches <= 17; ++microbatches) {
    for (std::size_t begin = 0; begin < microbatches; ++begin) {
      for (std::size_t end = begin + 1; end <= microbatches; ++end) {
        std::size_t next = begin;
        for (const Range subtree : whole_subtrees(microbatches, {begin, end})) {
          EXPECT_EQ(subtree.begin, next);
          next = subtree.end;
        }
        EXPECT_EQ(next, end);
      }
    }
  }
}

TEST(ReductionTree, GivesNothingForNoMicrobatches) {
  EXPECT_THAT(whole_subtrees(4, {2, 2}), IsEmpty());
  EXPECT_THAT(whole_subtrees(0, {0, 0}), IsEmpty());
}

}  // namespace
}  // namespace convoy
