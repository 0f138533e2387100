// SPDX-License-Identifier: Apache-2.0
//
// Label smoothing. The loss without it is in the tests of gradients and of networks.

#include "convoy/network/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/network/made_up.h"

namespace convoy {
namespace {

/// A network that gives its three inputs as logits: every case's logits are its images.
struct Identity {
  explicit Identity(float smoothing)
      : network(model, layout, {.most_samples = 32, .label_smoothing = smoothing}, team) {
    for (std::size_t i = 0; i < 3; ++i) values.data()[i * 3 + i] = 1;
  }

  LossSum loss(const Samples& samples) {
    return network.forward(samples, values, {}, nobody);
  }

  /// d(sum of losses) / d(bias): the logits' gradients, summed over the samples.
  std::vector<float> gradient() {
    FlatBuffer gradients(layout);
    network.backward(1, values, gradients, nobody);
    const auto bias = gradients.view(layout.segments()[1].range);
    return {bias.begin(), bias.end()};
  }

  Model model{"identity", {3, 1, 1}, {Linear{"last", 3}}};
  Layout layout = build_layout(model);
  FlatBuffer values{layout};
  ThreadTeam team{2};
  Network network;
  PassListener nobody;
};

const std::vector<float> kLogits = {1, -2, 0.5f, 3, 0, -1};
const std::vector<std::int32_t> kLabels = {2, 0};

TEST(LabelSmoothing, GivesTheLossOfPyTorch) {
  Identity identity(0.2f);

  const LossSum loss = identity.loss({kLogits, kLabels});

  EXPECT_NEAR(loss.loss, 1.67048097, 1e-6);
  EXPECT_EQ(loss.correct, 1u);
}

TEST(LabelSmoothing, GivesTheGradientOfPyTorch) {
  const float expected[2][3] = {{0.537082255f, -0.0366077833f, -0.500474453f},
                                {0.069572866f, -0.0200540461f, -0.049518846f}};
  for (std::size_t sample = 0; sample < 2; ++sample) {
    Identity identity(0.2f);
    identity.loss(Samples{kLogits, kLabels}.part({sample, sample + 1}));

    const std::vector<float> gradient = identity.gradient();

    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(gradient[c], expected[sample][c], 1e-6);
    }
  }
}

TEST(LabelSmoothing, HasTheGradientOfItsLoss) {
  Identity identity(0.3f);
  const std::vector<float> images = made_up_numbers(17 * 3, 5);
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 17; ++i) labels.push_back(i % 3);
  identity.loss({images, labels});
  const std::vector<float> gradient = identity.gradient();

  for (std::size_t c = 0; c < 3; ++c) {
    float& bias = identity.values.view(identity.layout.segments()[1].range)[c];
    bias = 0.01f;
    const double above = identity.loss({images, labels}).loss;
    bias = -0.01f;
    const double below = identity.loss({images, labels}).loss;
    bias = 0;
    EXPECT_NEAR(gradient[c], (above - below) / 0.02, 1e-3) << "class " << c;
  }
}

TEST(LabelSmoothing, OfNothingChangesNothing) {
  Identity with(0.0f);
  double expected = 0;
  for (std::size_t n = 0; n < 2; ++n) {
    const float* logits = kLogits.data() + 3 * n;
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(logits[c]);
    expected += std::log(sum) - logits[kLabels[n]];
  }

  EXPECT_NEAR(with.loss({kLogits, kLabels}).loss, expected, 1e-6);
}

}  // namespace
}  // namespace convoy
