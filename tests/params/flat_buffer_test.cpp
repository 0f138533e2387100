// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/flat_buffer.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace convoy {
namespace {

Layout padded_layout() {
  LayoutBuilder builder(/*unit_multiple=*/8);
  builder.begin_unit();
  builder.add("a", {3}, Role::weight);
  builder.begin_unit();
  builder.add("b", {2, 5}, Role::weight);
  return std::move(builder).build();
}

bool is_parameter(const Layout& layout, std::size_t i) {
  for (const Segment& segment : layout.segments()) {
    if (segment.range.begin <= i && i < segment.range.end) return true;
  }
  return false;
}

TEST(FlatBuffer, IsZeroAtFirstPaddingIncluded) {
  const Layout layout = padded_layout();

  const FlatBuffer buffer(layout);

  ASSERT_EQ(buffer.size(), 24u);
  for (std::size_t i = 0; i < buffer.size(); ++i) EXPECT_EQ(buffer.data()[i], 0.0f);
}

TEST(FlatBuffer, IsViewedWithoutACopy) {
  const Layout layout = padded_layout();
  FlatBuffer buffer(layout);

  buffer.view({8, 18})[3] = 7;

  EXPECT_EQ(buffer.data()[11], 7.0f);
  EXPECT_EQ(buffer.view({8, 18}).size(), 10u);
}

TEST(WeightsSha256, ChangesWithAnyParameterAndNoPadding) {
  const Layout layout = padded_layout();
  FlatBuffer values(layout);
  const std::string before = weights_sha256(layout, values);

  for (std::size_t i = 0; i < values.size(); ++i) {
    values.data()[i] = std::numeric_limits<float>::denorm_min();
    const bool changed = weights_sha256(layout, values) != before;
    EXPECT_EQ(changed, is_parameter(layout, i)) << "element " << i;
    values.data()[i] = 0;
  }
}

TEST(WeightsSha256, TellsMinusZeroFromZero) {
  const Layout layout = padded_layout();
  FlatBuffer values(layout);
  const std::string before = weights_sha256(layout, values);

  values.data()[0] = -0.0f;

  EXPECT_NE(weights_sha256(layout, values), before);
}

TEST(WeightsSha256, DoesNotDependOnHowUnitsArePadded) {
  LayoutBuilder tight(/*unit_multiple=*/1), loose(/*unit_multiple=*/64);
  for (LayoutBuilder* builder : {&tight, &loose}) {
    builder->begin_unit();
    builder->add("a", {3}, Role::weight);
    builder->begin_unit();
    builder->add("b", {2}, Role::weight);
  }
  const Layout layouts[] = {std::move(tight).build(), std::move(loose).build()};

  std::string digests[2];
  for (int i = 0; i < 2; ++i) {
    FlatBuffer values(layouts[i]);
    float next = 1;
    for (const Segment& segment : layouts[i].segments()) {
      for (float& value : values.view(segment.range)) value = next++;
    }
    digests[i] = weights_sha256(layouts[i], values);
  }

  EXPECT_EQ(digests[0], digests[1]);
}

TEST(WeightsSha256, IsThatOfTheBytesInOrder) {
  const Layout layout = padded_layout();
  FlatBuffer values(layout);
  std::vector<float> parameters;
  for (const Segment& segment : layout.segments()) {
    for (float& value : values.view(segment.range)) {
      value = static_cast<float>(parameters.size()) + 0.5f;
      parameters.push_back(value);
    }
  }

  EXPECT_EQ(weights_sha256(layout, values),
            sha256_hex(std::as_bytes(std::span(parameters))));
}

}  // namespace
}  // namespace convoy
