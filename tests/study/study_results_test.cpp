// SPDX-License-Identifier: Apache-2.0
//
// From records of runs to a ranking.

#include "convoy/study/study_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "convoy/study/study.h"
#include "convoy/study/study_report.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three rates with two seeds each.
StudyPlan plan_with_seeds() {
  StudyPlan plan;
  plan.folder = "runs/a";
  plan.dimensions = {"optimizer.lr", "train.seed"};
  for (const char* rate : {"0.1", "0.2", "0.3"}) {
    for (const char* seed : {"1", "2"}) {
      plan.rows.push_back({.values = {rate, seed}, .run = plan.rows.size()});
    }
  }
  plan.runs.resize(6);
  plan.split = "test";
  return plan;
}

RowResult scored(double loss, double accuracy, RowState state = RowState::done) {
  RowResult result;
  result.state = state;
  result.epoch = 2;
  result.test = RunScore{loss, accuracy};
  return result;
}

/// The rates, best first.
std::vector<std::string> ranking(const StudyPlan& plan,
                                 const std::vector<RowResult>& results) {
  std::vector<std::string> rates;
  for (const StudyGroup& group : ranked_groups(plan, results)) {
    rates.push_back(plan.rows[group.rows.front()].values[0]);
  }
  return rates;
}

TEST(StudyResults, AreMeansAndDeviationsOverSeeds) {
  const std::vector<StudyGroup> groups =
      ranked_groups(plan_with_seeds(), {scored(1, 0.5), scored(3, 0.7), scored(1, 0.1),
                                        scored(1, 0.1), scored(1, 0.2), scored(1, 0.2)});
  ASSERT_EQ(groups.size(), 3);
  EXPECT_THAT(groups[0].rows, ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(groups[0].loss.mean, 2);
  EXPECT_DOUBLE_EQ(groups[0].loss.deviation, std::sqrt(2));
  EXPECT_DOUBLE_EQ(groups[0].accuracy.mean, 0.6);
  EXPECT_EQ(groups[0].accuracy.count, 2);
}

TEST(StudyResults, AreRankedByAccuracyOrLoss) {
  StudyPlan plan = plan_with_seeds();
  const std::vector<RowResult> results{scored(1, 0.5), scored(1, 0.5), scored(2, 0.7),
                                       scored(2, 0.7), scored(3, 0.6), scored(3, 0.6)};
  EXPECT_THAT(ranking(plan, results), ElementsAre("0.2", "0.3", "0.1"));
  plan.metric = BestMetric::loss;
  EXPECT_THAT(ranking(plan, results), ElementsAre("0.1", "0.2", "0.3"));
}

TEST(StudyResults, PutWhatDivergedOrWasStoppedLast) {
  const std::vector<RowResult> results{scored(1, 0.9),
                                       scored(1, 0.9, RowState::diverged),
                                       scored(1, 0.8, RowState::halved),
                                       scored(1, 0.8, RowState::halved),
                                       scored(1, 0.1),
                                       scored(1, 0.1)};
  EXPECT_THAT(ranking(plan_with_seeds(), results), ElementsAre("0.3", "0.2", "0.1"));
}

TEST(StudyResults, LeaveLossesThatAreNotFiniteOutOfTheMean) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<StudyGroup> groups = ranked_groups(
      plan_with_seeds(), {scored(nan, 0.1, RowState::diverged), scored(1, 0.5),
                          scored(1, 0), scored(1, 0), scored(1, 0), scored(1, 0)});
  EXPECT_EQ(groups.back().rows.front(), 0);
  EXPECT_EQ(groups.back().loss.count, 1);
  EXPECT_EQ(groups.back().loss.mean, 1);
}

TEST(StudyResults, OfASharedRunAreThoseAfterTheRowsEpoch) {
  RunRecord record;
  record.state = RunState::finished;
  record.evaluations = {{"val", 10, 2, {0.5, 0.8}}, {"val", 20, 4, {0.3, 0.9}}};
  const RowResult result = result_of({.values = {}, .run = 0, .epoch = 2}, record);
  EXPECT_EQ(result.state, RowState::done);
  EXPECT_EQ(result.val->loss, 0.5);
  EXPECT_EQ(result.step, 10);
}

TEST(StudyResults, OfAHopelessRunAreThoseOfItsRungHoweverFarItCame) {
  RunRecord record;
  record.state = RunState::finished;
  record.evaluations = {{"test", 10, 1, {0.5, 0.8}}, {"test", 20, 2, {0.3, 0.9}}};
  const RowResult result = result_of({}, record, /*rung=*/1);
  EXPECT_EQ(result.state, RowState::halved);
  EXPECT_EQ(result.test->loss, 0.5);
}

TEST(StudyResults, AsCsvHaveOneLinePerRowAndNoTimes) {
  std::vector<RowResult> results(6, scored(0.25, 0.5));
  results[0].seconds = 12.75;
  const std::string csv = results_csv(plan_with_seeds(), results);
  EXPECT_THAT(csv, testing::StartsWith("run,optimizer.lr,train.seed,state,epoch,step,"));
  EXPECT_THAT(csv, HasSubstr("\n3,0.2,2,done,2,0,,,,,0.25,0.5,\n"));
  EXPECT_THAT(csv, testing::Not(HasSubstr("12.75")));
}

TEST(StudyResults, AsTextTellTheBestCommand) {
  const std::vector<RowResult> results(6, scored(0.25, 0.5));
  const std::string text = results_text(plan_with_seeds(), results, 100);
  EXPECT_THAT(text, HasSubstr("0.5000 ± 0.0000"));
  EXPECT_THAT(text, HasSubstr("best      convoy train optimizer.lr=0.1\n"));
  EXPECT_THAT(text, HasSubstr("by test accuracy"));
}

TEST(HalvingRungs, DivideTheEpochsByTheFactor) {
  EXPECT_THAT(halving_rungs(9, 3), ElementsAre(1, 3));
  EXPECT_THAT(halving_rungs(6, 2), ElementsAre(1, 3));
  EXPECT_THAT(halving_rungs(2, 3), testing::IsEmpty());
}

}  // namespace
}  // namespace convoy
