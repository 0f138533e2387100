// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/param_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

using testing::ElementsAre;

Layout one_of_each_role() {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  builder.add("conv.weight", {9}, Role::weight);
  builder.add("conv.bias", {1}, Role::bias);
  builder.add("norm.weight", {2}, Role::norm_scale);
  builder.add("norm.bias", {2}, Role::norm_shift);
  return std::move(builder).build();
}

/// The options of each role, in the order above.
std::vector<GroupOptions> manners(const ParameterOptions& options,
                                  const Layout& layout = one_of_each_role()) {
  const ParamGroups stretches(layout, options);
  std::vector<GroupOptions> found;
  for (const Segment& segment : layout.segments()) {
    stretches.visit(segment.range, [&](Range, const GroupOptions& options) {
      found.push_back(options);
    });
  }
  return found;
}

TEST(ParamGroups, HaveARateOfTheirOwnForWhatIsAdded) {
  EXPECT_THAT(manners({.bias_rate_factor = 64}),
              ElementsAre(GroupOptions{}, GroupOptions{.rate_factor = 64}, GroupOptions{},
                          GroupOptions{.rate_factor = 64}));
}

TEST(ParamGroups, DecayAllOrWeightsAlone) {
  const GroupOptions decays = {.weight_decay = 0.5f};
  EXPECT_THAT(manners({.weight_decay = 0.5f}),
              ElementsAre(decays, decays, decays, decays));
  EXPECT_THAT(manners({.weight_decay = 0.5f, .decay_only_weights = true}),
              ElementsAre(decays, GroupOptions{}, GroupOptions{}, GroupOptions{}));
}

TEST(ParamGroups, LeaveOutWhatIsFrozen) {
  Layout layout = one_of_each_role();
  layout.freeze(std::vector{SegmentId{1}});
  EXPECT_EQ(manners({}, layout).size(), 3u);
}

TEST(ParamGroups, MultiplyTheRatesOfTheirRulesAndReplaceTheDecay) {
  const std::vector<SegmentRule> rules = {
      {.rate_factor = 0.25}, {.rate_factor = 0.5, .weight_decay = 0.0}, {}, {}};

  EXPECT_THAT(manners({.weight_decay = 0.5f, .bias_rate_factor = 64, .rules = rules}),
              ElementsAre(GroupOptions{.weight_decay = 0.5f, .rate_factor = 0.25f},
                          GroupOptions{.weight_decay = 0, .rate_factor = 32},
                          GroupOptions{.weight_decay = 0.5f},
                          GroupOptions{.weight_decay = 0.5f, .rate_factor = 64}));
}

}  // namespace
}  // namespace convoy
