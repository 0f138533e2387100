// SPDX-License-Identifier: Apache-2.0
//
// Averages of hundreds of values, and the running statistics measured for them, beside
// torch.optim.swa_utils.

#include <gtest/gtest.h>

#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/linear.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/microbatches.h"
#include "convoy/optimizer/moving_average.h"
#include "tests/ask_torch.h"
#include "tests/network/torch_formula.h"
#include "tests/params/one_segment.h"

namespace convoy {
namespace {

using nlohmann::json;

constexpr std::size_t kTorchAveraged = 321, kBatch = 6, kBatches = 7;
constexpr std::uint32_t kCount = 300;
constexpr double kDecay = 0.97;

const json& from_torch() {
  static const json answer =
      ask_torch("optimizer/torch_averages.py", {{"size", kTorchAveraged},
                                                {"count", kCount},
                                                {"decay", kDecay},
                                                {"batch", kBatch},
                                                {"batches", kBatches}});
  return answer;
}

void expect_average_near(const json& expected, std::span<const float> found,
                         double tolerance) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i].get<double>(), tolerance) << "number " << i;
  }
}

void expect_average(const json& expected, std::optional<double> decay) {
  const Layout layout = one_segment(kTorchAveraged);
  ThreadTeam team(2);
  MovingAverage average(layout, decay, team);
  FlatBuffer numbers(layout);
  for (std::uint32_t count = 0; count < kCount; ++count) {
    for (std::uint32_t i = 0; i < kTorchAveraged; ++i) {
      numbers.data()[i] = torch_number(i, count + 1);
    }
    average.update(count, {0, kTorchAveraged}, numbers);
  }
  expect_average_near(expected, average.average().numbers(), 1e-6);
}

TEST(TorchAverages, AreOursIfEqual) {
  expect_average(from_torch().at("equal"), std::nullopt);
}

TEST(TorchAverages, AreOursIfExponential) {
  expect_average(from_torch().at("exponential"), kDecay);
}

TEST(TorchAverages, HaveTheStatisticsOfUpdateBn) {
  const Model model = {
      "of the script",
      {3, 8, 8},
      {Convolution{.name = "0", .channels = 4, .kernel = 3, .padding = 1}, BatchNorm{"1"},
       Relu{}, Convolution{.name = "3", .channels = 5, .kernel = 3, .padding = 1},
       BatchNorm{"4"}, Relu{}, Flatten{}, Linear{"7", 10}}};
  const Layout layout = build_layout(model);
  const Layout statistics_layout = build_statistics_layout(model);
  ThreadTeam team(2);
  Network network(model, layout, {.most_samples = kBatch}, team);
  Microbatches microbatches(network, layout, all_microbatches(1), team);
  FlatBuffer values(layout), statistics(statistics_layout);
  torch_fill(layout, values);
  std::vector<float> images(kBatch * model.input.size());
  const std::vector<std::int32_t> labels = torch_labels(kBatch);
  PassListener nobody;

  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    for (std::uint32_t i = 0; i < images.size(); ++i) {
      images[i] = torch_number(i, 1000 + batch);
    }
    microbatches.compute_batch_stats(Samples{images, labels}, values, {}, nobody);
    microbatches.update_running_stats(kBatch, statistics,
                                      1.0f / static_cast<float>(batch + 1));
  }

  std::vector<float> found;
  for (const Segment& segment : statistics_layout.segments()) {
    const std::span<float> numbers = statistics.view(segment.range);
    found.insert(found.end(), numbers.begin(), numbers.end());
  }
  expect_average_near(from_torch().at("statistics"), found, 1e-5);
}

}  // namespace
}  // namespace convoy
