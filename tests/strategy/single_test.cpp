// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/single.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "convoy/optimizer/sgd.h"

namespace convoy {
namespace {

Layout two_units() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("a", {5}, Role::weight);
  builder.begin_unit();
  builder.add("b", {21}, Role::weight);
  return std::move(builder).build();
}

/// Remembers what it was asked to update.
class Recorder final : public Optimizer {
 public:
  void start_step(std::size_t, const StepRates&) override {}
  std::vector<OptimizerSlot> slots() override { return {}; }
  void update(Range range, FlatBuffer&, const ScaledGradients&) override {
    ranges.push_back(range);
  }

  std::vector<Range> ranges;
};

TEST(Single, UpdatesEveryParameterFromItsGradient) {
  const Layout layout = two_units();
  ThreadTeam team(2);
  FlatBuffer values(layout), gradients(layout);
  for (const Segment& segment : layout.segments()) {
    for (float& gradient : gradients.view(segment.range)) gradient = 2;
  }
  Sgd sgd(layout, {.rate = 0.5f}, team);

  const PartialSums sums({&gradients});
  Single single({layout, layout, values, values, sums, sums, sgd});
  single.step();

  for (const Segment& segment : layout.segments()) {
    for (const float value : values.view(segment.range)) EXPECT_EQ(value, -1.0f);
  }
}

TEST(Single, UpdatesOnceAStepAndOnlyThen) {
  const Layout layout = two_units();
  FlatBuffer values(layout), gradients(layout);
  Recorder recorder;
  const PartialSums sums({&gradients});
  Single single({layout, layout, values, values, sums, sums, recorder});

  single.before_forward(UnitId{0});
  single.after_forward(UnitId{0});
  single.before_backward(UnitId{0});
  single.gradient_ready(SegmentId{0});
  EXPECT_TRUE(recorder.ranges.empty());
  single.step();

  EXPECT_EQ(recorder.ranges, (std::vector<Range>{{0, layout.size()}}));
}

}  // namespace
}  // namespace convoy
