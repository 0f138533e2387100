// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace convoy {
namespace {

using testing::ElementsAre;

/// Units of 3 x 2 + 3 and of 5 elements, each padded to a multiple of 8.
Layout two_units() {
  LayoutBuilder builder(/*unit_multiple=*/8);
  builder.begin_unit();
  builder.add("a.weight", {3, 2}, Role::weight);
  builder.add("a.bias", {3}, Role::bias);
  builder.begin_unit();
  builder.add("b.weight", {5, 1}, Role::weight);
  return std::move(builder).build();
}

TEST(Layout, PutsSegmentsEndToEndAndPadsUnits) {
  const Layout layout = two_units();

  EXPECT_EQ(layout.segment(SegmentId{0}).range, (Range{0, 6}));
  EXPECT_EQ(layout.segment(SegmentId{1}).range, (Range{6, 9}));
  EXPECT_EQ(layout.segment(SegmentId{2}).range, (Range{16, 21}));
  EXPECT_EQ(layout.unit(UnitId{0}), (Range{0, 16}));
  EXPECT_EQ(layout.unit(UnitId{1}), (Range{16, 24}));
  EXPECT_EQ(layout.size(), 24u);
}

TEST(Layout, CountsParametersWithoutPadding) {
  EXPECT_EQ(two_units().parameter_count(), 14u);
}

TEST(Layout, RemembersWhatSegmentsAre) {
  const Layout layout = two_units();

  ASSERT_EQ(layout.segments().size(), 3u);
  const Segment& bias = layout.segments()[1];
  EXPECT_EQ(bias.name, "a.bias");
  EXPECT_THAT(bias.shape, ElementsAre(3));
  EXPECT_EQ(bias.role, Role::bias);
  EXPECT_EQ(bias.unit, UnitId{0});
  EXPECT_EQ(layout.segments()[2].unit, UnitId{1});
  EXPECT_EQ(layout.segments()[2].role, Role::weight);
  EXPECT_EQ(layout.unit_count(), 2u);
}

TEST(Layout, OfNothingIsEmpty) {
  const Layout layout = LayoutBuilder(16).build();

  EXPECT_EQ(layout.size(), 0u);
  EXPECT_EQ(layout.unit_count(), 0u);
  EXPECT_TRUE(layout.segments().empty());
}

TEST(Layout, WithoutPaddingHasNone) {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  builder.add("a", {3}, Role::weight);
  builder.begin_unit();
  builder.add("b", {7}, Role::weight);

  const Layout layout = std::move(builder).build();

  EXPECT_EQ(layout.size(), layout.parameter_count());
}

TEST(Layout, IsTrainedAsAWholeIfNothingIsFrozen) {
  const Layout layout = two_units();

  EXPECT_THAT(layout.trained(), ElementsAre(Range{0, 24}));
  EXPECT_EQ(layout.trained_count(), 14u);
  EXPECT_EQ(layout.trained_segment_count(), 3u);
}

TEST(Layout, GivesTheRangesThatAreNotFrozen) {
  Layout layout = two_units();
  layout.freeze(std::vector{SegmentId{1}});

  EXPECT_THAT(layout.trained(), ElementsAre(Range{0, 6}, Range{16, 24}));
  EXPECT_THAT(layout.trained_in({5, 17}), ElementsAre(Range{5, 6}, Range{16, 17}));
  EXPECT_THAT(layout.trained_in({6, 16}), testing::IsEmpty());
  EXPECT_EQ(layout.trained_count(), 11u);
  EXPECT_EQ(layout.trained_size(), 14u);
  EXPECT_EQ(layout.parameter_count(), 14u);
}

TEST(LayoutBuilderDeathTest, RefusesANameTwice) {
  LayoutBuilder builder(8);
  builder.begin_unit();
  builder.add("a", {3}, Role::weight);

  EXPECT_DEATH(builder.add("a", {1}, Role::bias), "segment names are unique");
}

TEST(LayoutBuilderDeathTest, RefusesASegmentBeforeAUnit) {
  LayoutBuilder builder(8);

  EXPECT_DEATH(builder.add("a", {3}, Role::weight), "a segment belongs to a unit");
}

}  // namespace
}  // namespace convoy
