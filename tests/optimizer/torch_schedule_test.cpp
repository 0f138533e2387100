// SPDX-License-Identifier: Apache-2.0
//
// Every schedule, step by step, beside torch.optim.lr_scheduler. PyTorch multiplies its
// way from step to step and we compute each step alone: they agree to a part in 10^12.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convoy/optimizer/plateau.h"
#include "convoy/optimizer/schedule.h"
#include "tests/ask_torch.h"

namespace convoy {
namespace {

using nlohmann::json;

constexpr std::size_t kScheduled = 400, kStepsInEpoch = 25;
constexpr double kRate = 0.3, kRateTolerance = 1e-12;

void expect_rates_near(const std::vector<double>& found, const json& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double rate = expected[i];
    ASSERT_NEAR(found[i], rate, kRateTolerance * (rate + kRate * 1e-3)) << "step " << i;
  }
}

struct Case {
  const char* scheduler;  // PyTorch's
  json options;
  bool by_epoch;
  ScheduleOptions ours;
};

std::vector<Case> all_cases() {
  return {
      {"StepLR",
       {{"step_size", 3}, {"gamma", 0.5}},
       true,
       {.curve = Curve::step, .step_epochs = 3, .gamma = 0.5}},
      {"MultiStepLR",
       {{"milestones", {2, 5, 11}}, {"gamma", 0.2}},
       true,
       {.curve = Curve::step, .milestones = {2, 5, 11}, .gamma = 0.2}},
      {"ExponentialLR",
       {{"gamma", 0.8}},
       true,
       {.curve = Curve::exponential, .gamma = 0.8}},
      {"CosineAnnealingLR",
       {{"T_max", kScheduled}, {"eta_min", 0.01}},
       false,
       {.curve = Curve::cosine, .min_rate = 0.01}},
      {"LinearLR",
       {{"start_factor", 1}, {"end_factor", 0.05}, {"total_iters", kScheduled}},
       false,
       {.curve = Curve::linear, .end_factor = 0.05}},
      {"OneCycleLR",
       {{"max_lr", kRate}, {"total_steps", kScheduled + 1}, {"cycle_momentum", false}},
       false,
       {.curve = Curve::onecycle,
        .steps = kScheduled + 1,
        .one_cycle = {.max_rate = kRate}}},
  };
}

ScheduleOptions with_common(ScheduleOptions options) {
  options.rate = kRate;
  options.steps = std::max(options.steps, kScheduled);
  options.steps_in_epoch = kStepsInEpoch;
  return options;
}

json request_of(const Case& of) {
  return {{"name", of.scheduler},
          {"options", of.options},
          {"rate", kRate},
          {"steps", kScheduled},
          {"steps_of_scheduler", of.by_epoch ? kStepsInEpoch : 1}};
}

TEST(TorchSchedules, HaveTheRatesOfOurs) {
  const std::vector<Case> cases = all_cases();
  json request = json::array();
  for (const Case& of : cases) request.push_back(request_of(of));
  const json expected = ask_torch("optimizer/torch_schedules.py", request);
  ASSERT_EQ(expected.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].scheduler);
    const Schedule schedule(with_common(cases[i].ours));
    std::vector<double> found;
    for (std::size_t s = 0; s < kScheduled; ++s) found.push_back(schedule.at(s).rate);
    expect_rates_near(found, expected[i]);
  }
}

/// Gets better more and more slowly, and sometimes worse.
std::vector<double> metrics(bool higher_better) {
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) {
    const double part = 1 - std::exp(-i / 12.0) + 0.03 * std::sin(i * 1.7);
    all.push_back(higher_better ? part : 2 - part);
  }
  return all;
}

PlateauOptions plateau(bool higher_better, int patience, int cooldown, double min_rate) {
  return {.rate = kRate,
          .higher_better = higher_better,
          .gamma = 0.4,
          .patience = patience,
          .threshold = 0.005,
          .cooldown = cooldown,
          .min_rate = min_rate};
}

json request_of(const PlateauOptions& options) {
  return {{"metrics", metrics(options.higher_better)},
          {"rate", options.rate},
          {"options",
           {{"mode", options.higher_better ? "max" : "min"},
            {"factor", options.gamma},
            {"patience", options.patience},
            {"threshold", options.threshold},
            {"threshold_mode", "rel"},
            {"cooldown", options.cooldown},
            {"min_lr", options.min_rate}}}};
}

TEST(TorchPlateau, LowersTheRateWhenOursDoes) {
  const std::vector<PlateauOptions> cases = {
      plateau(true, 0, 0, 0), plateau(true, 3, 2, 0), plateau(false, 3, 0, 0),
      plateau(false, 2, 5, 1e-3), plateau(true, 10, 0, 0)};
  json request = json::array();
  for (const PlateauOptions& of : cases) request.push_back(request_of(of));
  const json expected = ask_torch("optimizer/torch_schedules.py", request);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    Plateau ours(cases[i]);
    std::vector<double> found;
    for (const double metric : metrics(cases[i].higher_better)) {
      ours.take_in(metric);
      found.push_back(kRate * ours.factor());
    }
    ASSERT_LT(found.back(), kRate);
    expect_rates_near(found, expected.at(i));
  }
}

}  // namespace
}  // namespace convoy
