// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/master_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/optimizer/sgd.h"

namespace convoy {
namespace {

Layout a_weight_and_a_norm() {
  LayoutBuilder builder(/*unit_multiple=*/4);
  builder.begin_unit();
  builder.add("fc.weight", {40}, Role::weight);
  builder.add("norm.weight", {3}, Role::norm_scale);
  return std::move(builder).build();
}

class Masters : public testing::Test {
 protected:
  std::unique_ptr<Sgd> sgd() { return std::make_unique<Sgd>(layout, SgdOptions{}, team); }

  Layout layout = a_weight_and_a_norm();
  ThreadTeam team{1};
  FlatBuffer values{layout}, gradients{layout};
};

TEST_F(Masters, MoveByStepsThatTheirRoundedValuesWouldNotTake) {
  MasterValues masters(sgd(), layout, Dtype::bf16, team);
  std::ranges::fill(values.view({0, layout.size()}), 1.0f);
  std::ranges::fill(gradients.view({0, layout.size()}), 1.0f);
  masters.adopt(values);
  for (std::size_t step = 0; step < 100; ++step) {
    masters.start_step(step, {.rate = 1e-4, .momentum = 0});
    masters.update({0, layout.size()}, values, gradients);
  }
  EXPECT_NEAR(masters.masters().data()[0], 0.99f, 1e-5);
  EXPECT_EQ(values.data()[0], round_to(Dtype::bf16, masters.masters().data()[0]));
  EXPECT_NEAR(values.data()[0], 0.99f, 0.002f);
}

TEST_F(Masters, AreTheBitsOfPlainTrainingWhateverValuesAreRoundedTo) {
  Sgd plain(layout, SgdOptions{}, team);
  MasterValues masters(sgd(), layout, Dtype::fp16, team);
  FlatBuffer expected(layout);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    expected.data()[i] = values.data()[i] = 0.1f * static_cast<float>(i);
    gradients.data()[i] = 0.37f;
  }
  masters.adopt(values);
  for (std::size_t step = 0; step < 5; ++step) {
    plain.start_step(step, {.rate = 0.1, .momentum = 0.9});
    masters.start_step(step, {.rate = 0.1, .momentum = 0.9});
    plain.update({0, layout.size()}, expected, gradients);
    masters.update({0, layout.size()}, values, gradients);
  }
  EXPECT_TRUE(std::ranges::equal(masters.masters().numbers(), expected.numbers()));
  EXPECT_EQ(values.data()[40], expected.data()[40]) << "a norm is not rounded";
  EXPECT_NE(values.data()[39], expected.data()[39]);
}

TEST_F(Masters, AreASlotAfterThoseOfTheOptimizer) {
  MasterValues masters(sgd(), layout, Dtype::fp16, team);
  const std::vector<OptimizerSlot> slots = masters.slots();
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_EQ(slots[0].name, "momentum_buffer");
  EXPECT_EQ(slots[1].name, "master");
}

TEST_F(Masters, OfFrozenParametersAreTheirValues) {
  layout.freeze(std::vector{SegmentId{0}});
  MasterValues masters(sgd(), layout, Dtype::bf16, team);
  std::ranges::fill(values.view({0, layout.size()}), 0.1f);
  masters.adopt(values);
  EXPECT_EQ(masters.masters().data()[0], round_to(Dtype::bf16, 0.1f));
  EXPECT_EQ(masters.masters().data()[40], 0.1f);
}

}  // namespace
}  // namespace convoy
