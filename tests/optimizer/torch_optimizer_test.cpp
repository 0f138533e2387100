// SPDX-License-Identifier: Apache-2.0
//
// Law 2 for optimizers: hundreds of steps of each, with its options, end at the values of
// PyTorch's own, and remember what that remembers. Differences are those of rounding:
// relative to 1, the size of the values, below one in a million.

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/optimizer/registry.h"
#include "tests/ask_torch.h"
#include "tests/network/torch_formula.h"

namespace convoy {
namespace {

using nlohmann::json;

constexpr std::size_t kWeights = 700, kBiases = 37;
constexpr std::uint32_t kSteps = 300;
constexpr double kTolerance = 1e-6;

struct Course {
  std::string label, name;
  OptimizerOptions options{};
  double rate = 0.01, momentum = 0.9;
  double clip_norm = 0;
  bool one_cycle = false;
};

const std::vector<Course>& all_runs() {
  static const std::vector<Course> runs = {
      {.label = "sgd", .name = "sgd"},
      {.label = "sgd with everything",
       .name = "sgd",
       .options = {.nesterov = true,
                   .parameters = {.weight_decay = 0.01f,
                                  .decay_only_weights = true,
                                  .bias_rate_factor = 4}}},
      {.label = "sgd clipped", .name = "sgd", .clip_norm = 2},
      {.label = "adam", .name = "adam"},
      {.label = "adam with decay",
       .name = "adam",
       .options = {.parameters = {.weight_decay = 0.1f}}},
      {.label = "adam of other betas",
       .name = "adam",
       .options = {.beta2 = 0.9, .eps = 1e-3},
       .momentum = 0.5},
      {.label = "adam on a cycle", .name = "adam", .one_cycle = true},
      {.label = "adamw",
       .name = "adamw",
       .options = {.parameters = {.weight_decay = 0.01f}}},
      {.label = "adamw with everything",
       .name = "adamw",
       .options = {.parameters = {.weight_decay = 0.3f,
                                  .decay_only_weights = true,
                                  .bias_rate_factor = 2}},
       .clip_norm = 1,
       .one_cycle = true},
      {.label = "adamw with biases in a hurry",
       .name = "adamw",
       .options = {.parameters = {.weight_decay = 0.3f, .bias_rate_factor = 4}}},
  };
  return runs;
}

json options_of(const Course& run) {
  json options = {{"lr", run.rate},
                  {"weight_decay", run.options.parameters.weight_decay}};
  if (run.name == "sgd") {
    options["momentum"] = run.momentum;
    options["nesterov"] = run.options.nesterov;
  } else {
    options["betas"] = {run.momentum, run.options.beta2};
    options["eps"] = run.options.eps;
  }
  return options;
}

json request_of(const Course& run) {
  return {{"name", run.name},
          {"sizes", {kWeights, kBiases}},
          {"steps", kSteps},
          {"options", options_of(run)},
          {"decay_only_weights", run.options.parameters.decay_only_weights},
          {"bias_rate_factor", run.options.parameters.bias_rate_factor},
          {"clip_norm", run.clip_norm},
          {"onecycle", run.one_cycle}};
}

Layout weight_and_bias() {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  builder.add("weight", {kWeights}, Role::weight);
  builder.add("bias", {kBiases}, Role::bias);
  return std::move(builder).build();
}

/// Of a segment, as the script has them.
void set_gradients(const Segment& segment, std::uint32_t seed, const FlatBuffer& values,
                   FlatBuffer& gradients) {
  for (std::uint32_t i = 0; i < segment.range.size(); ++i) {
    const std::size_t at = segment.range.begin + i;
    gradients.data()[at] = values.data()[at] * 0.5f + torch_number(i, seed);
  }
}

void expect_near(const json& expected, std::span<const float> found,
                 const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i].get<double>(), kTolerance) << what << " " << i;
  }
}

void expect_as_torch(const Course& run, const json& expected) {
  const Layout layout = weight_and_bias();
  ThreadTeam team(2);
  FlatBuffer values(layout), gradients(layout);
  for (std::uint32_t s = 0; s < 2; ++s) {
    const Range range = layout.segments()[s].range;
    for (std::uint32_t i = 0; i < range.size(); ++i) {
      values.data()[range.begin + i] = torch_number(i, 1 + s);
    }
  }
  const auto optimizer = make_optimizer(run.name, layout, run.options, team);
  ClipNorm clip(layout, {.longest = run.clip_norm}, team);
  const Schedule schedule({.curve = run.one_cycle ? Curve::onecycle : Curve::constant,
                           .rate = run.rate,
                           .momentum = run.momentum,
                           .steps = kSteps,
                           .one_cycle = {.max_rate = run.rate}});

  for (std::uint32_t step = 0; step < kSteps; ++step) {
    for (std::uint32_t s = 0; s < 2; ++s) {
      set_gradients(layout.segments()[s], 100 + 2 * step + s, values, gradients);
    }
    optimizer->start_step(step, schedule.at(step));
    OptimizerStep{*optimizer, run.clip_norm > 0 ? &clip : nullptr}.update(values,
                                                                          gradients);
    if (run.clip_norm > 0) {
      ASSERT_NEAR(clip.norm() / expected["norms"][step].get<double>(), 1, kTolerance);
    }
  }

  expect_near(expected["values"], values.numbers(), "value");
  ASSERT_EQ(optimizer->slots().size(), expected["slots"].size());
  for (const OptimizerSlot& slot : optimizer->slots()) {
    expect_near(expected["slots"].at(slot.name), slot.numbers.numbers(),
                std::string(slot.name));
  }
}

TEST(TorchOptimizers, EndWhereOursEnd) {
  json request = json::array();
  for (const Course& run : all_runs()) request.push_back(request_of(run));
  const json expected = ask_torch("optimizer/torch_optimizers.py", request);
  ASSERT_EQ(expected.size(), all_runs().size());
  for (std::size_t i = 0; i < all_runs().size(); ++i) {
    SCOPED_TRACE(all_runs()[i].label);
    expect_as_torch(all_runs()[i], expected[i]);
  }
}

}  // namespace
}  // namespace convoy
