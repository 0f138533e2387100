// SPDX-License-Identifier: Apache-2.0
//
// Law 2: every model's forward, backward and three optimizer steps match PyTorch from the
// same weights. tools/make_fixtures.py wrote what PyTorch computed.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convoy/network/models.h"
#include "convoy/network/network.h"
#include "convoy/optimizer/sgd.h"

namespace convoy {
namespace {

using nlohmann::json;

/// Element `index` of made-up tensor number `seed`, in [-1, 1). As uniform() in the
/// script.
float made_up_number(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t x = index * 0x9E3779B1u + seed * 0x85EBCA77u;
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  x ^= x >> 16;
  return static_cast<float>(x >> 8) * 0x1p-23f - 1.0f;
}

void fill(const Layout& layout, FlatBuffer& values) {
  float bound = 0;
  for (std::uint32_t number = 0; number < layout.segments().size(); ++number) {
    const Segment& segment = layout.segments()[number];
    if (segment.role == Role::weight) {
      bound =
          1.0f / std::sqrt(static_cast<float>(segment.range.size() / segment.shape[0]));
    }
    std::uint32_t index = 0;
    for (float& value : values.view(segment.range)) {
      value = made_up_number(index++, number + 1) * bound;
    }
  }
}

void fill_padding_with_nan(const Layout& layout, FlatBuffer& values) {
  std::vector<bool> used(values.size(), false);
  for (const Segment& segment : layout.segments()) {
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) used[i] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) values.data()[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

void expect_described(const json& expected, std::span<const float> found,
                      double tolerance, const std::string& name) {
  double squares = 0;
  for (const float value : found) squares += static_cast<double>(value) * value;
  const double norm = expected["norm"];
  EXPECT_NEAR(std::sqrt(squares), norm, tolerance * norm) << name;
  const double scale = norm / std::sqrt(static_cast<double>(found.size()));
  for (std::size_t i = 0; i < expected["elements"].size(); ++i) {
    const double element = expected["elements"][i];
    EXPECT_NEAR(found[i * expected["step"].get<std::size_t>()], element,
                tolerance * (scale + std::abs(element)))
        << name << ", sample " << i;
  }
}

class TorchFixture
    : public testing::TestWithParam<std::tuple<std::string, const Kernels*>> {};

TEST_P(TorchFixture, IsMatchedForwardBackwardAndAfterThreeSteps) {
  const auto& [name, kernels] = GetParam();
  const json fixture = json::parse(
      std::ifstream(CONVOY_SOURCE_DIR "/tests/network/fixtures/" + name + ".json"));
  Model model = make_model(name, find_model(name).usual_input, 10);
  std::erase_if(model.layers, [](const Layer& layer) {
    return std::holds_alternative<Dropout>(layer);
  });
  const Layout layout = build_layout(model);
  FlatBuffer values(layout), gradients(layout);
  fill(layout, values);
  fill_padding_with_nan(layout, values);
  const std::size_t batch = fixture["batch"];
  std::vector<float> images(batch * model.input.size());
  for (std::uint32_t i = 0; i < images.size(); ++i) images[i] = made_up_number(i, 1000);
  std::vector<std::int32_t> labels(batch);
  for (std::size_t i = 0; i < batch; ++i)
    labels[i] = static_cast<std::int32_t>(i * 7 % 10);
  ThreadTeam team(2);
  Network network(model, layout, {.most_samples = batch, .kernels = kernels}, team);
  const json& sgd = fixture["sgd"];
  Sgd optimizer(layout,
                {.rate = sgd["lr"],
                 .momentum = sgd["momentum"],
                 .weight_decay = sgd["weight_decay"],
                 .nesterov = sgd["nesterov"]},
                team);

  PassListener nobody;
  for (int step = 0; step < 3; ++step) {
    const LossSum loss = network.forward({images, labels}, values, {}, nobody);
    EXPECT_NEAR(loss.mean_loss(), fixture["losses"][step].get<double>(), 1e-5)
        << "step " << step;
    for (std::size_t i = 0; step == 0 && i < batch * 10; ++i) {
      EXPECT_NEAR(network.logit(i / 10, i % 10), fixture["logits"][i].get<double>(),
                  1e-5);
    }
    network.backward(1.0f / static_cast<float>(batch), values, gradients, nobody);
    for (const Segment& segment : layout.segments()) {
      if (step > 0) break;
      expect_described(fixture["gradients"][segment.name], gradients.view(segment.range),
                       1e-4, segment.name);
    }
    optimizer.update({0, layout.size()}, values, gradients);
  }

  for (const Segment& segment : layout.segments()) {
    expect_described(fixture["values"][segment.name], values.view(segment.range), 1e-5,
                     segment.name);
  }
}

// The plain kernels are slow: only the smallest model runs on them.
INSTANTIATE_TEST_SUITE_P(Models, TorchFixture,
                         testing::Combine(testing::ValuesIn(model_names()),
                                          testing::Values(&fast_kernels())),
                         [](const auto& info) { return std::get<0>(info.param); });
INSTANTIATE_TEST_SUITE_P(PlainKernels, TorchFixture,
                         testing::Combine(testing::Values("lenet5"),
                                          testing::Values(&reference_kernels())),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace convoy
