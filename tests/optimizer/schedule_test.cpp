// SPDX-License-Identifier: Apache-2.0
//
// Numbers are those of torch.optim.lr_scheduler in PyTorch 1.13, as read before each
// optimizer.step().

#include "convoy/optimizer/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace convoy {
namespace {

std::vector<double> rates(const ScheduleOptions& options) {
  const Schedule schedule(options);
  std::vector<double> all;
  for (std::size_t i = 0; i < options.steps; ++i) all.push_back(schedule.at(i).rate);
  return all;
}

void expect_rates(const ScheduleOptions& options, const std::vector<double>& expected) {
  const std::vector<double> found = rates(options);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-15) << "step " << i;
  }
}

struct AtStep {
  std::size_t step;
  double rate, momentum;
};

void expect_one_cycle(std::size_t steps, const OneCycle& cycle,
                      const std::vector<AtStep>& expected) {
  const Schedule schedule({.curve = Curve::onecycle,
                           .rate = 0.1,
                           .momentum = 0.9,
                           .steps = steps,
                           .one_cycle = cycle});
  for (const auto& [step, rate, momentum] : expected) {
    EXPECT_NEAR(schedule.at(step).rate, rate, 1e-15) << "step " << step;
    EXPECT_NEAR(schedule.at(step).momentum, momentum, 1e-15) << "step " << step;
  }
}

TEST(Schedule, StaysWhereItIsIfConstant) {
  expect_rates({.rate = 0.1, .steps = 3}, {0.1, 0.1, 0.1});
}

TEST(Schedule, KeepsTheMomentumButForOneCycle) {
  for (const Curve curve :
       {Curve::constant, Curve::step, Curve::exponential, Curve::cosine, Curve::linear}) {
    const Schedule schedule({.curve = curve, .momentum = 0.9, .steps = 10});
    EXPECT_EQ(schedule.at(7).momentum, 0.9);
  }
}

TEST(StepSchedule, ChangesEverySoManyEpochs) {
  expect_rates(
      {.curve = Curve::step, .rate = 0.1, .steps = 10, .step_epochs = 3, .gamma = 0.5},
      {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125});
}

TEST(StepSchedule, ChangesWhereAnEpochBegins) {
  expect_rates({.curve = Curve::step,
                .rate = 0.1,
                .steps = 7,
                .steps_in_epoch = 3,
                .step_epochs = 1,
                .gamma = 0.5},
               {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025});
}

TEST(StepSchedule, ChangesAtMilestones) {
  expect_rates({.curve = Curve::step, .rate = 0.1, .steps = 8, .milestones = {2, 5}},
               {0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001});
}

TEST(CosineSchedule, IsThatOfPyTorch) {
  expect_rates({.curve = Curve::cosine, .rate = 0.1, .steps = 10, .min_rate = 0.001},
               {0.10000000000000001, 0.097577297556610113, 0.090546341221559898,
                0.079595369988477424, 0.065796341221559904, 0.050500000000000003,
                0.03520365877844011, 0.021404630011522589, 0.010453658778440109,
                0.0034227024433899004});
}

TEST(WarmUp, GrowsToTheRateStepByStep) {
  expect_rates({.rate = 0.4, .steps = 6, .steps_in_epoch = 2, .warmup_epochs = 2},
               {0.1, 0.2, 0.3, 0.4, 0.4, 0.4});
}

TEST(WarmUp, LeavesTheOtherStepsToTheCosine) {
  expect_rates({.curve = Curve::cosine, .rate = 0.4, .steps = 4, .warmup_epochs = 2},
               {0.2, 0.4, 0.4, 0.2});
}

TEST(WarmUp, LeavesTheOtherStepsToTheLine) {
  expect_rates({.curve = Curve::linear,
                .rate = 0.4,
                .steps = 6,
                .warmup_epochs = 2,
                .end_factor = 0.5},
               {0.2, 0.4, 0.4, 0.35, 0.3, 0.25});
}

TEST(WarmUp, ComesBeforeTheEpochsThatAnExponentialCounts) {
  expect_rates({.curve = Curve::exponential,
                .rate = 0.4,
                .steps = 8,
                .steps_in_epoch = 2,
                .warmup_epochs = 1,
                .gamma = 0.5},
               {0.2, 0.4, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1});
}

TEST(WarmUp, ThatEndsInAnEpochLeavesItsRestToTheFullRate) {
  expect_rates({.curve = Curve::exponential,
                .rate = 0.4,
                .steps = 6,
                .steps_in_epoch = 3,
                .warmup_epochs = 2.0 / 3,
                .gamma = 0.5},
               {0.2, 0.4, 0.4, 0.2, 0.2, 0.2});
}

TEST(WarmUp, MayBeLongerThanTheRun) {
  expect_rates({.curve = Curve::cosine, .rate = 0.4, .steps = 2, .warmup_epochs = 4},
               {0.1, 0.2});
}

TEST(OneCycleSchedule, IsThatOfPyTorch) {
  expect_one_cycle(100, {},
                   {{0, 0.040000000000000036, 0.94999999999999996},
                    {1, 0.042813780565907456, 0.94970689785771789},
                    {14, 0.49401332387899954, 0.90270694542927088},
                    {28, 0.99718621943409258, 0.85029310214228204},
                    {29, 1, 0.84999999999999998},
                    {30, 0.99949653528452431, 0.85005034667293422},
                    {31, 0.99798715504903157, 0.85020128530023797},
                    {60, 0.58928009028552875, 0.89107215526006811},
                    {98, 0.00050746471547578789, 0.94994965332706571},
                    {99, 3.9999999999999998e-06, 0.94999999999999996}});
}

TEST(OneCycleSchedule, AlongLinesIsThatOfPyTorch) {
  expect_one_cycle(100, {.linear = true},
                   {{0, 0.040000000000000001, 0.94999999999999996},
                    {1, 0.073103448275862071, 0.94655172413793098},
                    {14, 0.50344827586206897, 0.90172413793103445},
                    {28, 0.96689655172413802, 0.85344827586206895},
                    {29, 1, 0.84999999999999998},
                    {30, 0.98571434285714288, 0.85142857142857142},
                    {60, 0.55714462857142855, 0.89428571428571424},
                    {98, 0.014289657142857126, 0.94857142857142851},
                    {99, 4.0000000000040004e-06, 0.94999999999999996}});
}

TEST(OneCycleSchedule, WithItsTopBetweenTwoStepsIsThatOfPyTorch) {
  expect_one_cycle(7,
                   {.max_rate = 0.5,
                    .pct_start = 0.25,
                    .div_factor = 10,
                    .final_div_factor = 100,
                    .base_momentum = 0.5,
                    .max_momentum = 0.9},
                   {{0, 0.049999999999999989, 0.90000000000000002},
                    {1, 0.49721049884972585, 0.5022338347549743},
                    {2, 0.43332970498949908, 0.55338962563403471},
                    {3, 0.30582460325558952, 0.65549581320873718},
                    {4, 0.15900607916449283, 0.77306820487327899},
                    {5, 0.043896866114580331, 0.86524775486319894},
                    {6, 0.00050000000000000001, 0.90000000000000002}});
}

TEST(OneCycleSchedule, OfAFewStepsIsThatOfPyTorch) {
  expect_one_cycle(1, {}, {{0, 4e-06, 0.95}});
  expect_one_cycle(2, {},
                   {{0, 0.81174565394976295, 0.86882550990706331}, {1, 4e-06, 0.95}});
  expect_one_cycle(3, {}, {{1, 0.46263710266697505, 0.90373650467932121}});
}

TEST(OneCycleSchedule, OneWayOnlyIsThatOfPyTorch) {
  expect_one_cycle(4, {.pct_start = 0},
                   {{0, 0.85355397637971131, 0.8646446609406726}, {3, 4e-06, 0.95}});
  expect_one_cycle(4, {.pct_start = 1},
                   {{0, 0.04, 0.95}, {1, 0.28, 0.925}, {3, 1, 0.85}});
}

TEST(OneCycleSchedule, BeginsAtTheTopIfTheWayUpIsOneStep) {
  expect_one_cycle(10, {.pct_start = 0.1}, {{0, 1, 0.85}, {9, 4e-06, 0.95}});
}

TEST(OneCycleSchedule, KeepsTheMomentumIfTold) {
  expect_one_cycle(100, {.cycle_momentum = false}, {{0, 0.04, 0.9}, {29, 1, 0.9}});
}

}  // namespace
}  // namespace convoy
