// SPDX-License-Identifier: Apache-2.0
//
// Law 2: every model's forward, backward and three optimizer steps match PyTorch from the
// same weights. tools/make_fixtures.py wrote what PyTorch computed.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convoy/models/models.h"
#include "convoy/network/microbatches.h"
#include "convoy/network/network.h"
#include "convoy/optimizer/sgd.h"
#include "test_places.h"
#include "tests/network/torch_formula.h"

namespace convoy {
namespace {

using nlohmann::json;

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
/// follows from it: torch_layers_test.cpp holds single layers to PyTorch.
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

void expect_all(const json& expected, const Layout& layout, const FlatBuffer& found,
                double tolerance) {
  for (const Segment& segment : layout.segments()) {
    expect_described(expected[segment.name], found.view(segment.range), tolerance,
                     segment.name);
  }
}

class TorchFixture : public testing::TestWithParam<std::tuple<std::string, KernelSet>> {};

TEST_P(TorchFixture, IsMatchedForwardBackwardAndAfterThreeSteps) {
  const auto& [name, kernels] = GetParam();
  const json fixture = json::parse(
      std::ifstream(CONVOY_SOURCE_DIR "/tests/network/fixtures/" + name + ".json"));
  const json& shape = fixture["input"];
  Model model = make_model(name, {shape[0], shape[1], shape[2]}, 10);
  for (ModelNode& node : model.nodes) {
    if (node.layer.get_if<Dropout>() != nullptr) node.layer = Dropout{0};
  }
  const Layout layout = build_layout(model);
  const Layout statistics_layout = build_statistics_layout(model);
  const Tolerances& tolerances = tolerances_of(name, statistics_layout.size() > 0);
  FlatBuffer values(layout), statistics(statistics_layout);
  initialize(statistics_layout, /*seed=*/1, statistics);
  torch_fill(layout, values);
  fill_padding_with_nan(layout, values);
  const std::size_t batch = fixture["batch"];
  const std::vector<float> images = torch_images(batch * model.input.size());
  const std::vector<std::int32_t> labels = torch_labels(batch);
  ThreadTeam team(2);
  Network network(model, layout, {.most_samples = batch, .kernels = kernels}, team);
  const json& sgd = fixture["sgd"];
  Sgd optimizer(layout,
                {.rate = sgd["lr"],
                 .momentum = sgd["momentum"],
                 .nesterov = sgd["nesterov"],
                 .parameters = {.weight_decay = sgd["weight_decay"]}},
                team);

  PassListener nobody;
  network.forward({images, labels}, values, {}, nobody);
  for (std::size_t i = 0; i < batch * 10; ++i) {
    EXPECT_NEAR(network.logit(i / 10, i % 10), fixture["logits"][i].get<double>(),
                tolerances.logits);
  }
  Microbatches microbatches(network, layout, all_microbatches(1), team);
  const FlatBuffer& gradients = microbatches.gradients().whole();
  for (int step = 0; step < 3; ++step) {
    const LossSum loss = microbatches.run(Samples{images, labels}, values, {}, nobody);
    microbatches.update_running_stats(batch, statistics);
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
                                          testing::Values(best_kernel_set())),
                         [](const auto& info) { return std::get<0>(info.param); });
INSTANTIATE_TEST_SUITE_P(PlainKernels, TorchFixture,
                         testing::Combine(testing::Values("lenet5"),
                                          testing::Values(KernelSet::reference)),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace convoy
