// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/norm/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<RmsNorm> kRmsNorm("rms_norm", [](const RmsNorm& layer,
                                                   const DoubleArguments& of) {
  DoubleBatch batch = of.first();
  const std::size_t features = batch.shape.features();
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    double* numbers = batch.values.data() + row * features;
    double squares = 0;
    for (std::size_t f = 0; f < features; ++f) squares += numbers[f] * numbers[f];
    const double root = std::sqrt(squares / static_cast<double>(features) +
                                  static_cast<double>(layer.epsilon));
    for (std::size_t f = 0; f < features; ++f) {
      numbers[f] = numbers[f] / root * of.parameters[0][f];
    }
  }
  return batch;
});

TEST(RmsNorm, HasPyTorchsEpsilonUnlessAnotherIsGiven) {
  EXPECT_EQ(RmsNorm{}.epsilon, std::ldexp(1.0f, -23));  // torch.finfo(torch.float32).eps
}

}  // namespace
}  // namespace convoy
