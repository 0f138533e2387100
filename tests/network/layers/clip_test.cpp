// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/clip.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const auto kClip = elementwise<Clip>("clip", [](const Clip& clip, double value) {
  return std::clamp(value, static_cast<double>(clip.min), static_cast<double>(clip.max));
});

TEST(Clip, RefusesLimitsInTheWrongOrder) {
  const Layer layer = Clip{2, 2};
  const std::vector<Shape> src = {{1, 2, 2}};

  EXPECT_THROW(layer.kind().describe(layer, {.src = src}), InputError);
}

}  // namespace
}  // namespace convoy
