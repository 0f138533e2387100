// SPDX-License-Identifier: Apache-2.0
//
// What torch_optimizer_test.cpp does not say of Adam: parts, order, threads, and what is
// left alone.

#include "convoy/optimizer/adam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "convoy/base/random.h"

namespace convoy {
namespace {

/// Units of a weight and a bias, in all more than two chunks, none a multiple of one.
Layout adam_layout() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  for (const char* name : {"a", "b", "c"}) {
    builder.begin_unit();
    builder.add(name + std::string(".weight"), {13'001}, Role::weight);
    builder.add(name + std::string(".bias"), {37}, Role::bias);
  }
  return std::move(builder).build();
}

void fill_for_adam(std::uint32_t label, FlatBuffer& buffer) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer.data()[i] = 2 * random.uniform(i) - 1;
  }
}

class AdamOrAdamW : public testing::TestWithParam<bool> {
 protected:
  AdamOptions options(bool decay_only_weights = false) const {
    return {.decoupled = GetParam(),
            .parameters = {.weight_decay = 0.1f,
                           .decay_only_weights = decay_only_weights,
                           .bias_rate_factor = 3}};
  }

  const Layout layout = adam_layout();
  ThreadTeam team{2}, alone{1};
  FlatBuffer values{layout}, before{layout}, gradients{layout};
};

TEST_P(AdamOrAdamW, UpdatesInPartsAndInAnyOrderAsTheWhole) {
  FlatBuffer parts(layout);
  fill_for_adam(0, values);
  fill_for_adam(0, parts);
  Adam of_whole(layout, options(true), team), of_parts(layout, options(true), alone);
  for (std::uint32_t step = 0; step < 3; ++step) {
    fill_for_adam(step + 1, gradients);
    of_whole.start_step(step, {0.1, 0.9});
    of_parts.start_step(step, {0.1, 0.9});
    of_whole.update({0, layout.size()}, values, gradients);
    for (const Range range : {Range{17'000, layout.size()}, Range{0, 1}, Range{8, 8},
                              Range{9, 17'000}, Range{1, 9}}) {
      of_parts.update(range, parts, gradients);
    }
  }

  EXPECT_EQ(weights_sha256(layout, parts), weights_sha256(layout, values));
}

TEST_P(AdamOrAdamW, TakesScaledGradientsAsThoseScaledBefore) {
  FlatBuffer others(layout), halves(layout);
  fill_for_adam(0, values);
  fill_for_adam(0, others);
  fill_for_adam(1, gradients);
  std::ranges::transform(gradients.numbers(), halves.data(),
                         [](float gradient) { return gradient / 2; });
  Adam scales(layout, options(), team), takes(layout, options(), team);
  scales.start_step(0, {0.1, 0.9});
  takes.start_step(0, {0.1, 0.9});

  scales.update({0, layout.size()}, values, {gradients, 0.5f});
  takes.update({0, layout.size()}, others, halves);

  EXPECT_EQ(weights_sha256(layout, values), weights_sha256(layout, others));
}

TEST_P(AdamOrAdamW, LeavesAloneWhatIsFrozenOrOutsideTheRange) {
  Layout with_frozen = layout;
  with_frozen.freeze(std::vector{SegmentId{1}});
  fill_for_adam(0, values);
  fill_for_adam(0, before);
  fill_for_adam(1, gradients);
  Adam adam(with_frozen, options(), team);
  adam.start_step(0, {0.1, 0.9});
  const Range range = {100, 20'000};

  adam.update(range, values, gradients);

  const Range still = layout.segments()[1].range;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const bool updates =
        i >= range.begin && i < range.end && !(i >= still.begin && i < still.end);
    ASSERT_EQ(values.data()[i] != before.data()[i], updates) << "element " << i;
  }
}

TEST_P(AdamOrAdamW, RemembersUnderTheNamesOfPyTorch) {
  Adam adam(layout, options(), team);
  const std::vector<OptimizerSlot> slots = adam.slots();
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_EQ(slots[0].name, "exp_avg");
  EXPECT_EQ(slots[1].name, "exp_avg_sq");
}

TEST_P(AdamOrAdamW, GoesOnFromItsSlotsAndTheNumberOfTheStep) {
  FlatBuffer resumed_values(layout);
  Adam whole(layout, options(), team), resumed(layout, options(), team);
  for (std::uint32_t step = 0; step < 6; ++step) {
    if (step == 3) {
      std::ranges::copy(values.numbers(), resumed_values.data());
      for (std::size_t i = 0; i < 2; ++i) {
        std::ranges::copy(whole.slots()[i].numbers.numbers(),
                          resumed.slots()[i].numbers.data());
      }
    }
    fill_for_adam(step, gradients);
    whole.start_step(step, {0.1, 0.9});
    whole.update({0, layout.size()}, values, gradients);
    if (step < 3) continue;
    resumed.start_step(step, {0.1, 0.9});
    resumed.update({0, layout.size()}, resumed_values, gradients);
  }

  EXPECT_EQ(weights_sha256(layout, values), weights_sha256(layout, resumed_values));
}

INSTANTIATE_TEST_SUITE_P(Both, AdamOrAdamW, testing::Bool(),
                         [](const auto& info) { return info.param ? "AdamW" : "Adam"; });

}  // namespace
}  // namespace convoy
