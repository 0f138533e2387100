// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/sgd.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "convoy/base/random.h"
#include "tests/params/one_segment.h"

namespace convoy {
namespace {

// More than two of the chunks that a task takes, and no multiple of anything.
constexpr std::size_t kSize = 40'003;

void fill(std::uint32_t label, FlatBuffer& buffer) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer.data()[i] = 2 * random.uniform(i) - 1;
  }
}

/// One parameter of PyTorch's SGD, in double precision.
struct Expected {
  double value, velocity = 0;

  void update(const SgdOptions& options, double gradient) {
    const double d =
        gradient + static_cast<double>(options.parameters.weight_decay) * value;
    velocity = options.momentum * velocity + d;
    value -=
        options.rate * (options.nesterov ? d + options.momentum * velocity : velocity);
  }
};

struct SgdCase {
  const char* name;
  SgdOptions options;
};

class SgdWith : public testing::TestWithParam<SgdCase> {};

TEST_P(SgdWith, FollowsTheFormulaForThreeSteps) {
  const Layout layout = one_segment(kSize);
  ThreadTeam team(2);
  FlatBuffer values(layout), gradients(layout);
  fill(0, values);
  std::vector<Expected> expected;
  for (const float value : values.view({0, kSize})) expected.push_back({value});

  Sgd sgd(layout, GetParam().options, team);
  for (std::uint32_t step = 0; step < 3; ++step) {
    fill(step + 1, gradients);
    sgd.update({0, kSize}, values, gradients);
    for (std::size_t i = 0; i < kSize; ++i) {
      expected[i].update(GetParam().options, gradients.data()[i]);
    }
  }

  for (std::size_t i = 0; i < kSize; ++i) {
    ASSERT_NEAR(values.data()[i], expected[i].value, 1e-6) << "element " << i;
  }
}

TEST_P(SgdWith, UpdatesInPartsAndInAnyOrderAsTheWhole) {
  const Layout layout = one_segment(kSize);
  ThreadTeam team(2), alone(1);
  FlatBuffer whole(layout), parts(layout), gradients(layout);
  fill(0, whole);
  fill(0, parts);

  Sgd of_whole(layout, GetParam().options, team);
  Sgd of_parts(layout, GetParam().options, alone);
  for (std::uint32_t step = 0; step < 3; ++step) {
    fill(step + 1, gradients);
    of_whole.update({0, kSize}, whole, gradients);
    for (const Range range : {Range{17'000, kSize}, Range{0, 1}, Range{8, 8},
                              Range{9, 17'000}, Range{1, 9}}) {
      of_parts.update(range, parts, gradients);
    }
  }

  EXPECT_EQ(weights_sha256(layout, parts), weights_sha256(layout, whole));
}

INSTANTIATE_TEST_SUITE_P(
    Options, SgdWith,
    testing::Values(
        SgdCase{"Nothing", {.rate = 0.1f}},
        SgdCase{"Momentum", {.rate = 0.1f, .momentum = 0.9f}},
        SgdCase{"Decay", {.rate = 0.1f, .parameters = {.weight_decay = 0.01f}}},
        SgdCase{"Nesterov", {.rate = 0.1f, .momentum = 0.9f, .nesterov = true}},
        SgdCase{"Everything",
                {.rate = 0.05f,
                 .momentum = 0.8f,
                 .nesterov = true,
                 .parameters = {.weight_decay = 0.02f}}}),
    [](const auto& info) { return info.param.name; });

TEST(Sgd, LeavesAloneWhatIsOutsideTheRange) {
  const Layout layout = one_segment(kSize);
  ThreadTeam team(2);
  FlatBuffer values(layout), before(layout), gradients(layout);
  fill(0, values);
  fill(0, before);
  fill(1, gradients);

  Sgd sgd(layout, {.rate = 0.1f, .momentum = 0.9f}, team);
  sgd.update({100, 20'000}, values, gradients);

  for (std::size_t i = 0; i < kSize; ++i) {
    const bool inside = i >= 100 && i < 20'000;
    ASSERT_EQ(values.data()[i] != before.data()[i], inside) << "element " << i;
  }
}

/// Units of a weight and a bias, none a multiple of a chunk.
Layout weights_and_biases() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  for (const char* name : {"a", "b", "c"}) {
    builder.begin_unit();
    builder.add(name + std::string(".weight"), {10'001}, Role::weight);
    builder.add(name + std::string(".bias"), {37}, Role::bias);
  }
  return std::move(builder).build();
}

TEST(Sgd, LeavesBiasesOutOfTheDecayIfTold) {
  const Layout layout = weights_and_biases();
  for (const bool only_weights : {false, true}) {
    ThreadTeam team(2);
    FlatBuffer values(layout), gradients(layout);
    fill(0, values);
    Sgd sgd(layout,
            {.rate = 0.5f,
             .parameters = {.weight_decay = 0.5f, .decay_only_weights = only_weights}},
            team);
    FlatBuffer before(layout);
    fill(0, before);

    sgd.update({0, layout.size()}, values, gradients);

    for (const Segment& segment : layout.segments()) {
      const bool decays = segment.role == Role::weight || !only_weights;
      for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
        ASSERT_EQ(values.data()[i], (decays ? 0.75f : 1.0f) * before.data()[i])
            << segment.name;
      }
    }
  }
}

TEST(Sgd, DecaysWeightsAloneInPartsAsInTheWhole) {
  const Layout layout = weights_and_biases();
  ThreadTeam team(2), alone(1);
  const SgdOptions options = {
      .rate = 0.1f,
      .momentum = 0.9f,
      .parameters = {
          .weight_decay = 0.1f, .decay_only_weights = true, .bias_rate_factor = 8}};
  Sgd of_whole(layout, options, team), of_parts(layout, options, alone);
  FlatBuffer whole(layout), parts(layout), gradients(layout);
  fill(0, whole);
  fill(0, parts);
  fill(1, gradients);

  of_whole.update({0, layout.size()}, whole, gradients);
  for (const Range range : {Range{10'020, layout.size()}, Range{0, 10'001},
                            Range{10'001, 10'005}, Range{10'005, 10'020}}) {
    of_parts.update(range, parts, gradients);
  }

  EXPECT_EQ(weights_sha256(layout, parts), weights_sha256(layout, whole));
}

TEST(Sgd, LeavesAFrozenSegmentAlone) {
  Layout layout = weights_and_biases();
  ThreadTeam team(2);
  const SegmentId frozen{1};
  layout.freeze({&frozen, 1});
  Sgd sgd(layout, {.rate = 0.5f, .parameters = {.weight_decay = 0.5f}}, team);
  FlatBuffer values(layout), before(layout), gradients(layout);
  fill(0, values);
  fill(0, before);
  fill(1, gradients);

  sgd.update({0, layout.size()}, values, gradients);

  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const Range range = layout.segments()[i].range;
    EXPECT_EQ(SegmentId{i} == frozen,
              std::ranges::equal(values.view(range), before.view(range)));
  }
}

TEST(Sgd, TakesAnotherMomentumFromTheNextUpdate) {
  const Layout layout = one_segment(kSize);
  ThreadTeam team(1);
  FlatBuffer values(layout), gradients(layout);
  gradients.data()[0] = 1;

  Sgd sgd(layout, {.rate = 1}, team);
  sgd.update({0, 1}, values, gradients);
  sgd.start_step(1, {.rate = 1, .momentum = 0.5});
  sgd.update({0, 1}, values, gradients);

  EXPECT_EQ(values.data()[0], -2.5f);
}

TEST(Sgd, TakesAnotherRateFromTheNextUpdate) {
  const Layout layout = one_segment(kSize);
  ThreadTeam team(1);
  FlatBuffer values(layout), gradients(layout);
  gradients.data()[0] = 1;

  Sgd sgd(layout, {.rate = 0.5f}, team);
  sgd.update({0, 1}, values, gradients);
  sgd.start_step(1, {.rate = 0.25, .momentum = 0});
  sgd.update({0, 1}, values, gradients);

  EXPECT_EQ(values.data()[0], -0.75f);
}

}  // namespace
}  // namespace convoy
