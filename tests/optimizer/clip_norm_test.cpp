// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/clip_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "convoy/base/random.h"

namespace convoy {
namespace {

// More than two chunks, and no multiple of anything.
constexpr std::size_t kFirst = 19, kRest = 40'003;

Layout two_segments() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("first", {kFirst}, Role::weight);
  builder.begin_unit();
  builder.add("rest", {kRest}, Role::weight);
  return std::move(builder).build();
}

class Clip : public testing::Test {
 protected:
  Clip() {
    const RandomStream random(/*seed=*/1, RngStream::synthetic);
    for (const Segment& segment : layout.segments()) {
      for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
        gradients.data()[i] = random.normal(i);
      }
    }
  }

  /// Of a stretch, in extended precision.
  double norm_of(Range range) const {
    long double sum = 0;
    for (const float gradient : gradients.view(range)) {
      sum += static_cast<long double>(gradient) * static_cast<long double>(gradient);
    }
    return static_cast<double>(std::sqrt(sum));
  }

  const Layout layout = two_segments();
  ThreadTeam team{3};
  FlatBuffer gradients{layout};
};

TEST_F(Clip, ScalesALongGradientToItsLength) {
  ClipNorm clip(layout, {.longest = 2}, team);
  const float scale = clip.scale(gradients);
  const double norm = norm_of({0, layout.size()});
  EXPECT_NEAR(clip.norm() / norm, 1, 1e-14);
  EXPECT_FLOAT_EQ(scale, static_cast<float>(2 / (norm + 1e-6)));
}

TEST_F(Clip, LeavesAShortGradientAsItIs) {
  ClipNorm clip(layout, {.longest = 1e6}, team);
  EXPECT_EQ(clip.scale(gradients), 1.0f);
}

TEST_F(Clip, DoesNotCountWhatIsFrozen) {
  Layout with_frozen = layout;
  with_frozen.freeze(std::vector{SegmentId{0}});
  ClipNorm clip(with_frozen, {.longest = 1}, team);
  clip.scale(gradients);
  EXPECT_NEAR(clip.norm() / norm_of(layout.segments()[1].range), 1, 1e-14);
}

TEST_F(Clip, HasTheSameBitsOnAnyNumberOfThreads) {
  ThreadTeam alone(1);
  ClipNorm here(layout, {}, team), there(layout, {}, alone);
  EXPECT_EQ(here.scale(gradients), there.scale(gradients));
  EXPECT_EQ(here.norm(), there.norm());
}

TEST_F(Clip, HasTheSameBitsFromShards) {
  ClipNorm whole(layout, {}, team);
  const float scale = whole.scale(gradients);
  const std::size_t chunks = whole.sums().size();
  ASSERT_EQ(chunks, 3u);

  std::vector<double> gathered;
  for (const Range own : {Range{0, 1}, Range{1, 1}, Range{1, 3}}) {
    ClipNorm shard(layout, {}, team);
    shard.add_up(own, gradients);
    const auto sums = shard.sums().subspan(own.begin, own.size());
    gathered.insert(gathered.end(), sums.begin(), sums.end());
  }
  ClipNorm last(layout, {}, team);
  std::ranges::copy(gathered, last.sums().begin());

  EXPECT_EQ(last.finish(), scale);
  EXPECT_EQ(last.norm(), whole.norm());
}

TEST_F(Clip, HasANormThatIsNotFiniteIfAGradientIsNot) {
  ClipNorm clip(layout, {}, team);
  gradients.data()[kFirst + 100] = std::numeric_limits<float>::quiet_NaN();
  clip.scale(gradients);
  EXPECT_FALSE(std::isfinite(clip.norm()));
}

}  // namespace
}  // namespace convoy
