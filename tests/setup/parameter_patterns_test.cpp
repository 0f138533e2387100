// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/parameter_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/models/models.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::ElementsAre;

/// conv1, conv2, fc1, fc2, fc3, each with weight and bias, and each a unit.
LaidOutModel lenet5() { return lay_out(make_model("lenet5", {1, 28, 28}, 10)); }

std::vector<std::string> trained_after(const TrainSettings& settings) {
  LaidOutModel model = lenet5();
  freeze_parameters(settings, model);
  std::vector<std::string> names;
  for (const Segment& segment : model.layout.segments()) {
    if (segment.trained) names.push_back(segment.name);
  }
  return names;
}

TEST(Freezing, TakesPatternsOfNames) {
  EXPECT_THAT(trained_after({.freeze = "conv*,fc[12].*"}),
              ElementsAre("fc3.weight", "fc3.bias"));
  EXPECT_THAT(trained_after({.freeze = "fc?.weight,*.bias"}),
              ElementsAre("conv1.weight", "conv2.weight"));
  EXPECT_THAT(trained_after({.whiten = true, .freeze = "fc*,conv2.*"}),
              ElementsAre("conv1.bias"));
}

TEST(Freezing, IsOfNothingByDefault) { EXPECT_EQ(trained_after({}).size(), 10u); }

TEST(Freezing, RefusesAPatternThatMatchesNothing) {
  expect_error(InputKind::settings,
               {"train.freeze", "found:    cnov1.*, which matches no parameter",
                "expected: patterns of the names of the model's parameters",
                "hint:     nearest: conv1.*"},
               [] { trained_after({.freeze = "fc1.*,cnov1.*"}); });
  expect_error(InputKind::settings,
               {"found:    an empty pattern, which matches no parameter",
                "hint:     the parameters are conv1.weight ... fc3.bias"},
               [] { trained_after({.freeze = "fc1.*,"}); });
}

TEST(Freezing, RefusesToFreezeEverything) {
  expect_error(InputKind::settings,
               {"train.freeze", "found:    *.bias,*.weight, which matches all parameters",
                "expected: at least one parameter that is trained"},
               [] { trained_after({.freeze = "*.bias,*.weight"}); });
}

TEST(Freezing, OfABatchNormFreezesItsStatistics) {
  LaidOutModel model = lay_out(make_model("vgg11", {3, 32, 32}, 10));

  freeze_parameters({.freeze = "layers.1.*,layers.5.weight"}, model);

  const Layout& statistics = model.statistics_layout;
  EXPECT_EQ(statistics.segments().size() - statistics.trained_segment_count(), 2u);
  EXPECT_FALSE(statistics.segments()[0].trained);
  EXPECT_EQ(statistics.segments()[0].name, "layers.1.running_mean");
}

std::vector<SegmentRule> rules_of(const OptimizerSettings& settings) {
  return segment_rules(settings, lenet5().layout);
}

TEST(Groups, AreNoneByDefault) { EXPECT_THAT(rules_of({}), testing::IsEmpty()); }

TEST(Groups, SetFactorsOfTheRateAndDecayAndLaterOnesWin) {
  const std::vector<SegmentRule> rules =
      rules_of({.groups = "*.bias:lr=0.5,weight_decay=0;fc1.*:lr=0.25"});

  EXPECT_EQ(rules[0], SegmentRule{});
  EXPECT_EQ(rules[1], (SegmentRule{.rate_factor = 0.5, .weight_decay = 0.0}));
  EXPECT_EQ(rules[4], (SegmentRule{.rate_factor = 0.25}));
  EXPECT_EQ(rules[5], (SegmentRule{.rate_factor = 0.25, .weight_decay = 0.0}));
}

TEST(Groups, RefuseWhatTheyDoNotUnderstand) {
  for (const char* groups : {"fc1.*", "fc1.*:lr=0.1;", "fc1.*:lr", "fc1.*:lr=-1",
                             "fc1.*:rate=1", "fc1.*:", "fc1.*:lr=1e39", "fc4.*:lr=1"}) {
    expect_error(InputKind::settings, {"optimizer.groups"},
                 [&] { rules_of({.groups = groups}); });
  }
  expect_error(InputKind::settings,
               {"found:    momentum=1",
                "expected: lr=FACTOR or weight_decay=NUMBER, numbers from 0",
                "hint:     for example *.bias:lr=0.1,weight_decay=0"},
               [] { rules_of({.groups = "fc1.*:momentum=1"}); });
}

/// As timm and BEiT do: the last unit has the whole rate.
TEST(LayerDecay, IsOneFactorPerUnitBehind) {
  const std::vector<SegmentRule> rules =
      rules_of({.groups = "fc3.bias:lr=3", .layer_decay = 0.5});

  const std::vector<double> expected = {1.0 / 16, 1.0 / 16, 1.0 / 8, 1.0 / 8, 0.25,
                                        0.25,     0.5,      0.5,     1,       3};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(rules[i].rate_factor, expected[i]) << "segment " << i;
  }
}

}  // namespace
}  // namespace convoy
