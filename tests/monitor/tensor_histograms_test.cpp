// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/tensor_histograms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace convoy {
namespace {

TEST(TensorHistograms, CountFiniteNumbersInEqualParts) {
  const std::vector<float> numbers = {0, 0.5F, 1, 39, 40, NAN, INFINITY};
  const nlohmann::ordered_json found = histogram_json(numbers);
  EXPECT_EQ(found["least"], 0);
  EXPECT_EQ(found["most"], 40);
  ASSERT_EQ(found["counts"].size(), kHistogramParts);
  EXPECT_EQ(found["counts"][0], 2);
  EXPECT_EQ(found["counts"][1], 1);
  EXPECT_EQ(found["counts"][39], 2) << "the largest number is in the last part";
}

TEST(TensorHistograms, OfEqualNumbersHaveOnePart) {
  const std::vector<float> numbers(3, 7.0F);
  EXPECT_EQ(histogram_json(numbers)["counts"][0], 3);
  EXPECT_EQ(histogram_json({})["counts"][0], 0);
}

TEST(TensorHistograms, AreOfEveryTensorAndOfTheGradientsOfTrainedOnes) {
  LayoutBuilder builder(4);
  builder.begin_unit();
  const SegmentId frozen = builder.add("a", {2}, Role::weight);
  builder.add("b", {2}, Role::weight);
  Layout layout = std::move(builder).build();
  layout.freeze(std::span(&frozen, 1));
  const FlatBuffer zeros(layout);
  EventRecords no_events(nullptr, Settings{});
  TensorHistograms histograms(layout, no_events, 1);
  histograms.add_weights(UnitId{0}, zeros);
  histograms.add_gradients(UnitId{0}, zeros);
  const nlohmann::ordered_json& found = histograms.json();
  EXPECT_TRUE(found.contains("weights/a") && found.contains("gradients/b"));
  EXPECT_FALSE(found.contains("gradients/a"));
}

}  // namespace
}  // namespace convoy
