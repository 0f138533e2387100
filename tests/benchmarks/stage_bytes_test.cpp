// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/stage_bytes.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

constexpr double kFloat = sizeof(float);

StageReport stage_of(Shape src, Shape dst) {
  return {.name = "stage", .src = src, .dst = dst};
}

TEST(StageBytes, OfAPoolAreItsActivationsAndTheirGradients) {
  const StageBytes bytes = least_bytes(stage_of({2, 8, 8}, {2, 4, 4}), {.samples = 10});

  EXPECT_EQ(bytes.forward, 10 * (128 + 32) * kFloat);
  EXPECT_EQ(bytes.backward, 10 * (128 + 32) * kFloat);
}

TEST(StageBytes, WithParametersCountThemAndTheSourceOnceMore) {
  const StageBytes bytes =
      least_bytes(stage_of({100, 1, 1}, {10, 1, 1}), {.samples = 4, .parameters = 1010});

  EXPECT_EQ(bytes.forward, (4 * (100 + 10) + 1010) * kFloat);
  EXPECT_EQ(bytes.backward, (4 * (100 + 100 + 10) + 2 * 1010) * kFloat);
}

TEST(StageBytes, CountParametersInEveryPass) {
  const StageBytes bytes = least_bytes(stage_of({100, 1, 1}, {10, 1, 1}),
                                       {.samples = 4, .passes = 2, .parameters = 1010});

  EXPECT_EQ(bytes.forward, (4 * (100 + 10) + 2 * 1010) * kFloat);
}

TEST(StageBytes, OfTheFirstStageHaveNoGradientOfTheInput) {
  const StageBytes bytes =
      least_bytes(stage_of({3, 4, 4}, {8, 4, 4}),
                  {.samples = 2, .parameters = 224, .source_has_gradient = false});

  EXPECT_EQ(bytes.backward, (2 * (48 + 128) + 224) * kFloat);
}

TEST(StageBytes, OfASumHaveASecondSourceAndItsGradient) {
  StageReport stage = stage_of({8, 4, 4}, {8, 4, 4});
  stage.adds_residual = true;

  const StageBytes bytes = least_bytes(stage, {.samples = 1, .parameters = 16});

  EXPECT_EQ(bytes.forward, (3 * 128 + 16) * kFloat);
  EXPECT_EQ(bytes.backward, (4 * 128 + 2 * 16) * kFloat);
}

TEST(StageBytes, FindTheParametersOfAStage) {
  const Model model{"two", {1, 4, 4}, {Convolution{"conv", 2, 3}, Linear{"fc", 10}}};
  const Layout layout = build_layout(model);

  EXPECT_EQ(parameters_of("conv", layout), 2 * 9 + 2);
  EXPECT_EQ(parameters_of("fc", layout), 8 * 10 + 10);
  EXPECT_EQ(parameters_of("max_pool", layout), 0);
}

}  // namespace
}  // namespace convoy
