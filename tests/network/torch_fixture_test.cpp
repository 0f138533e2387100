// SPDX-License-Identifier: Apache-2.0
//
// Law 2: every model's forward, backward and three optimizer steps match PyTorch from the
// same weights. tools/make_fixtures.py wrote what PyTorch computed.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convoy/network/lanes.h"
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
    const bool scale = segment.role == Role::norm_scale;
    for (float& value : values.view(segment.range)) {
      value = made_up_number(index++, number + 1);
      value = scale ? 1 + value / 2 : value * bound;
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

/// How closely a model is held to PyTorch. In a deep one a number near zero falls on the
/// other side of a ReLU or of a pool's choice here and there, and that shows in all that
/// follows from it: single layers are held to fp64 in gradient_test.cpp.
struct Tolerances {
  double logits, first_loss, later_losses;  // absolute
  double gradients, values, statistics;     // relative
  double no_gradient;  // a smaller norm is that of rounding errors alone
};
constexpr Tolerances kShallow = {1e-5, 1e-5, 1e-5, 1e-4, 1e-5, 0, 0};
// A bias before a batch norm has no gradient.
constexpr Tolerances kDeep = {2e-4, 2e-4, 2e-2, 0.2, 3e-3, 3e-3, 1e-4};
constexpr Tolerances kDeepest = {2e-4, 2e-4, 2e-2, 0.2, 3e-3, 5e-2, 1e-4};

const Tolerances& tolerances_of(const std::string& model, bool norms) {
  if (model == "resnet50") return kDeepest;
  return norms ? kDeep : kShallow;
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

void expect_all(const json& expected, const Layout& layout, const FlatBuffer& found,
                double tolerance) {
  for (const Segment& segment : layout.segments()) {
    expect_described(expected[segment.name], found.view(segment.range), tolerance,
                     segment.name);
  }
}

class TorchFixture
    : public testing::TestWithParam<std::tuple<std::string, const Kernels*>> {};

TEST_P(TorchFixture, IsMatchedForwardBackwardAndAfterThreeSteps) {
  const auto& [name, kernels] = GetParam();
  const json fixture = json::parse(
      std::ifstream(CONVOY_SOURCE_DIR "/tests/network/fixtures/" + name + ".json"));
  const json& shape = fixture["input"];
  Model model = make_model(name, {shape[0], shape[1], shape[2]}, 10);
  std::erase_if(model.layers, [](const Layer& layer) {
    return std::holds_alternative<Dropout>(layer);
  });
  const Layout layout = build_layout(model);
  const Layout statistics_layout = build_statistics_layout(model);
  const Tolerances& tolerances = tolerances_of(name, statistics_layout.size() > 0);
  FlatBuffer values(layout), statistics(statistics_layout);
  initialize_statistics(statistics_layout, statistics);
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
  network.forward({images, labels}, values, {}, nobody);
  for (std::size_t i = 0; i < batch * 10; ++i) {
    EXPECT_NEAR(network.logit(i / 10, i % 10), fixture["logits"][i].get<double>(),
                tolerances.logits);
  }
  Lanes lanes(network, layout, all_lanes(1), team);
  const FlatBuffer& gradients = lanes.gradients().whole();
  for (int step = 0; step < 3; ++step) {
    const LossSum loss = lanes.run(Samples{images, labels}, values, {}, nobody);
    lanes.follow_statistics(batch, statistics);
    EXPECT_NEAR(loss.mean_loss(), fixture["losses"][step].get<double>(),
                step == 0 ? tolerances.first_loss : tolerances.later_losses)
        << "step " << step;
    for (const Segment& segment : layout.segments()) {
      const json& expected = fixture["gradients"][segment.name];
      if (step > 0 || expected["norm"] < tolerances.no_gradient) continue;
      expect_described(expected, gradients.view(segment.range), tolerances.gradients,
                       segment.name);
    }
    optimizer.update({0, layout.size()}, values, gradients);
  }

  expect_all(fixture["values"], layout, values, tolerances.values);
  expect_all(fixture["statistics"], statistics_layout, statistics, tolerances.statistics);
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
