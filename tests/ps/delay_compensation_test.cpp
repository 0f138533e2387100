// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/delay_compensation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "convoy/base/random.h"

namespace convoy {
namespace {

// More than two chunks, no multiple of anything, and padding between the units.
constexpr std::size_t kFirst = 19, kBias = 5, kRest = 40'003;

Layout three_segments() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("first", {kFirst}, Role::weight);
  builder.add("bias", {kBias}, Role::bias);
  builder.begin_unit();
  builder.add("rest", {kRest}, Role::weight);
  return std::move(builder).build();
}

void fill_pushed(const Layout& layout, std::uint32_t label, FlatBuffer& buffer) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic, label);
  for (const Segment& segment : layout.segments()) {
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
      buffer.data()[i] = random.normal(i);
    }
  }
}

class Compensated : public testing::Test {
 protected:
  Compensated() {
    fill_pushed(layout, 1, values);
    fill_pushed(layout, 2, pulled);
    fill_pushed(layout, 3, gradients);
  }

  std::string digest_of() const { return weights_sha256(layout, gradients); }
  void compensate(DelayCompensation& by, Range range) {
    by.compensate(range, values, std::as_const(pulled).view(range),
                  gradients.view(range));
  }

  const Layout layout = three_segments();
  const Range everything{0, layout.size()};
  ThreadTeam team{2};
  FlatBuffer values{layout}, pulled{layout}, gradients{layout};
};

TEST_F(Compensated, IsThePapersFormula) {
  DelayCompensation by(layout, {.kind = Compensation::dc_asgd, .lambda = 0.7}, team);
  const FlatBuffer& after = gradients;
  const std::vector<float> before(after.numbers().begin(), after.numbers().end());
  compensate(by, everything);

  for (std::size_t i = 0; i < layout.size(); ++i) {
    const double g = before[i], way = double(values.data()[i]) - pulled.data()[i];
    const double expected = g + 0.7 * g * g * way;
    ASSERT_NEAR(after.data()[i], expected, 1e-6 * (1 + std::abs(0.7 * g * g * way)))
        << "element " << i;
  }
}

TEST_F(Compensated, IsTheAdaptiveFormulaOverSeveralGradients) {
  DelayCompensation by(
      layout, {.kind = Compensation::dc_asgd_adaptive, .lambda = 2, .decay = 0.9}, team);
  std::vector<double> square(layout.size());
  for (std::uint32_t push = 0; push < 4; ++push) {
    fill_pushed(layout, 10 + push, gradients);
    const FlatBuffer& after = gradients;
    const std::vector<float> before(after.numbers().begin(), after.numbers().end());
    compensate(by, everything);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      const double g = before[i], way = double(values.data()[i]) - pulled.data()[i];
      square[i] = 0.9 * square[i] + 0.1 * g * g;
      const double added = 2 / (std::sqrt(square[i]) + 1e-7) * g * g * way;
      ASSERT_NEAR(after.data()[i], g + added, 2e-6 * (1 + std::abs(added)))
          << "element " << i << ", push " << push;
    }
  }
  ASSERT_EQ(by.slots().size(), 1u);
  EXPECT_NEAR(by.slots()[0].numbers.data()[40'000], square[40'000], 1e-5);
}

class EveryCompensation : public Compensated,
                          public testing::WithParamInterface<Compensation> {};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryCompensation,
                         testing::Values(Compensation::dc_asgd,
                                         Compensation::dc_asgd_adaptive));

TEST_P(EveryCompensation, HasTheSameBitsInPartsAndOnAnyNumberOfThreads) {
  ThreadTeam alone(1);
  DelayCompensation whole(layout, {.kind = GetParam()}, team);
  DelayCompensation parts(layout, {.kind = GetParam()}, alone);
  const std::string before = digest_of();
  compensate(whole, everything);
  const std::string expected = digest_of();
  ASSERT_NE(expected, before);

  fill_pushed(layout, 3, gradients);
  compensate(parts, {0, 21});
  compensate(parts, {21, 17'001});
  compensate(parts, {17'001, layout.size()});
  EXPECT_EQ(digest_of(), expected);
}

TEST_P(EveryCompensation, LeavesTheRestAlone) {
  DelayCompensation by(layout, {.kind = GetParam()}, team);
  const FlatBuffer& now = gradients;
  const std::vector<float> before(now.numbers().begin(), now.numbers().end());
  compensate(by, {100, 200});
  for (std::size_t i = 0; i < layout.size(); ++i) {
    ASSERT_EQ(now.data()[i] == before[i], i < 100 || i >= 200) << "element " << i;
  }
}

TEST_P(EveryCompensation, LeavesWhatIsFrozenAlone) {
  Layout with_frozen = layout;
  with_frozen.freeze(std::vector{SegmentId{1}});
  DelayCompensation by(with_frozen, {.kind = GetParam()}, team);
  const FlatBuffer& now = gradients;
  const std::vector<float> before(now.numbers().begin(), now.numbers().end());
  compensate(by, everything);
  for (std::size_t i = 0; i < kFirst + kBias; ++i) {
    ASSERT_EQ(now.data()[i] == before[i], i >= kFirst) << "element " << i;
  }
}

TEST_P(EveryCompensation, KeepsPaddingZeroWhateverValuesHaveThere) {
  for (std::size_t i = kFirst + kBias; i < 32; ++i) {
    values.data()[i] = std::numeric_limits<float>::quiet_NaN();
  }
  DelayCompensation by(layout, {.kind = GetParam()}, team);
  compensate(by, everything);
  for (std::size_t i = kFirst + kBias; i < 32; ++i) {
    ASSERT_EQ(gradients.data()[i], 0.0f) << "element " << i;
  }
}

TEST_P(EveryCompensation, ChangesNoBitIfLambdaIsZero) {
  gradients.data()[3] = -0.0f;
  const std::string before = digest_of();
  DelayCompensation by(layout, {.kind = GetParam(), .lambda = 0}, team);
  compensate(by, everything);
  EXPECT_EQ(digest_of(), before);
}

TEST_P(EveryCompensation, ChangesWithLambda) {
  DelayCompensation weak(layout, {.kind = GetParam(), .lambda = 0.5}, team);
  compensate(weak, everything);
  const std::string with_weak = digest_of();
  fill_pushed(layout, 3, gradients);
  DelayCompensation strong(layout, {.kind = GetParam(), .lambda = 0.6}, team);
  compensate(strong, everything);
  EXPECT_NE(digest_of(), with_weak);
}

TEST_P(EveryCompensation, SaysTheBytesOfItsState) {
  DelayCompensation by(layout, {.kind = GetParam()}, team);
  std::size_t bytes = 0;
  for (const OptimizerSlot& slot : by.slots()) bytes += slot.numbers.size() * 4;
  EXPECT_EQ(DelayCompensation::bytes(GetParam(), everything), bytes);
}

}  // namespace
}  // namespace convoy
