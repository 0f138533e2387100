// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/stage_bytes.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

constexpr double kFloat = sizeof(float);

StageReport stage_of(std::vector<Shape> src, Shape dst, std::size_t parameters = 0) {
  return {.name = "stage", .src = std::move(src), .dst = dst, .parameters = parameters};
}

TEST(StageBytes, OfAPoolAreItsActivationsAndTheirGradients) {
  const StageBytes bytes = least_bytes(stage_of({{2, 8, 8}}, {2, 4, 4}), {.samples = 10});

  EXPECT_EQ(bytes.forward, 10 * (128 + 32) * kFloat);
  EXPECT_EQ(bytes.backward, 10 * (128 + 32) * kFloat);
}

TEST(StageBytes, WithParametersCountThemAndTheSourceOnceMore) {
  const StageBytes bytes =
      least_bytes(stage_of({{100, 1, 1}}, {10, 1, 1}, 1010), {.samples = 4});

  EXPECT_EQ(bytes.forward, (4 * (100 + 10) + 1010) * kFloat);
  EXPECT_EQ(bytes.backward, (4 * (100 + 100 + 10) + 2 * 1010) * kFloat);
}

TEST(StageBytes, CountParametersInEveryPass) {
  const StageBytes bytes =
      least_bytes(stage_of({{100, 1, 1}}, {10, 1, 1}, 1010), {.samples = 4, .passes = 2});

  EXPECT_EQ(bytes.forward, (4 * (100 + 10) + 2 * 1010) * kFloat);
}

TEST(StageBytes, OfTheFirstStageHaveNoGradientOfTheInput) {
  const StageBytes bytes = least_bytes(stage_of({{3, 4, 4}}, {8, 4, 4}, 224),
                                       {.samples = 2, .source_has_gradient = false});

  EXPECT_EQ(bytes.backward, (2 * (48 + 128) + 224) * kFloat);
}

TEST(StageBytes, OfASumHaveASecondSourceAndItsGradient) {
  const StageReport stage = stage_of({{8, 4, 4}, {8, 4, 4}}, {8, 4, 4}, 16);

  const StageBytes bytes = least_bytes(stage, {.samples = 1});

  EXPECT_EQ(bytes.forward, (3 * 128 + 16) * kFloat);
  EXPECT_EQ(bytes.backward, (4 * 128 + 2 * 16) * kFloat);
}

}  // namespace
}  // namespace convoy
