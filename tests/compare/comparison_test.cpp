// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convoy/compare/comparison_report.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A run of two epochs that ends at an accuracy of 0.9.
RunRecord run_of(const std::string& folder, double epoch_seconds = 2) {
  RunRecord run{.folder = folder, .state = RunState::finished};
  run.settings.emplace();
  run.result = RunResult{.weights_sha256 = "0123456789",
                         .strategy = "single",
                         .training_seconds = 2 * epoch_seconds,
                         .images_per_second = 100 / epoch_seconds,
                         .test = RunScore{.loss = 0.3, .accuracy = 0.9}};
  for (int epoch = 1; epoch <= 2; ++epoch) {
    run.evaluations.push_back({.split = "test",
                               .epoch = epoch,
                               .score = {.loss = 0.3, .accuracy = 0.7 + 0.1 * epoch},
                               .seconds = epoch * epoch_seconds});
  }
  return run;
}

std::string text_of(const Comparison& comparison) {
  return text_table(comparison_columns(comparison, true), 300);
}

TEST(Comparison, HasTheSettingsThatDifferExceptPlaces) {
  RunRecord a = run_of("a"), b = run_of("b"), c = run_of("c");
  b.settings->optimizer.lr = 0.5;
  b.settings->run.name = "other";
  c.settings->train.epochs = 9;

  const Comparison comparison = compare_runs({a, b, c});

  EXPECT_THAT(comparison.settings, ElementsAre("train.epochs", "optimizer.lr"));
  EXPECT_THAT(comparison.runs[0].settings, ElementsAre("6", "0.01"));
  EXPECT_THAT(comparison.runs[1].settings, ElementsAre("6", "0.5"));
  EXPECT_THAT(comparison.runs[2].settings, ElementsAre("9", "0.01"));
}

TEST(Comparison, ComparesSpeedWithTheFirstRun) {
  const Comparison comparison = compare_runs({run_of("a", 4), run_of("b", 1)});

  EXPECT_EQ(comparison.runs[0].speedup, 1);
  EXPECT_EQ(comparison.runs[1].speedup, 4);
}

TEST(Comparison, ComparesTheTimeToATarget) {
  RunRecord quick = run_of("quick", 1), poor = run_of("poor", 1);
  for (RunEvaluation& each : poor.evaluations) each.score.accuracy = 0.5;

  const Comparison comparison = compare_runs({run_of("a", 4), quick, poor}, 0.85);

  EXPECT_EQ(comparison.runs[0].reached->seconds, 8);
  EXPECT_EQ(comparison.runs[1].speedup, 4);
  EXPECT_EQ(comparison.runs[2].speedup, std::nullopt);
  const std::string text = text_of(comparison);
  EXPECT_THAT(text, HasSubstr("to 85 %"));
  EXPECT_THAT(text, HasSubstr("8.00 s"));
  EXPECT_THAT(text, HasSubstr("not reached"));
}

TEST(Comparison, TakesTheValidationSetForTheTargetWhereThereIsOne) {
  RunRecord run = run_of("a");
  run.evaluations.push_back(
      {.split = "val", .epoch = 2, .score = {.loss = 1, .accuracy = 0.95}, .seconds = 4});

  EXPECT_EQ(first_reaching(run, 0.9)->split, "val");
  EXPECT_EQ(first_reaching(run, 0.99), std::nullopt);
}

TEST(Comparison, TellsRunsOfTheSameNameApartByTheirFolders) {
  const Comparison comparison = compare_runs({run_of("x/sweep/1"), run_of("y/sweep/1")});

  EXPECT_EQ(comparison.runs[0].name, "x/sweep/1");
  EXPECT_EQ(comparison.runs[1].name, "y/sweep/1");
}

TEST(Comparison, ShowsRunsThatAreNotFinishedWithWhatTheyHave) {
  RunRecord broken{.folder = "broken", .state = RunState::broken};
  broken.problems = {"summary.json: \x1b[31mjunk"};
  RunRecord killed = run_of("killed");
  killed.result.reset();
  killed.state = RunState::unfinished;
  killed.last_step = 1234;

  const Comparison comparison = compare_runs({broken, killed, run_of("a")}, 0.9);

  EXPECT_THAT(text_of(comparison), HasSubstr("unfinished"));
  EXPECT_THAT(comparison_notes(comparison),
              HasSubstr("killed: unfinished at step 1,234"));
  EXPECT_THAT(comparison_notes(comparison), HasSubstr("broken: broken\n  summary.json"));
  EXPECT_TRUE(comparison_json(comparison).at("runs").at(0).at("test").is_null());
}

TEST(Comparison, LeavesOutColumnsWithoutAnything) {
  const std::string text = text_of(compare_runs({run_of("a"), run_of("b")}));

  EXPECT_THAT(text, Not(HasSubstr("val")));
  EXPECT_THAT(text, Not(HasSubstr("sent")));
  EXPECT_THAT(text, Not(HasSubstr("state")));
  EXPECT_THAT(comparison_notes(compare_runs({run_of("a")})), IsEmpty());
}

TEST(Comparison, IsAChartOfAccuracyByTime) {
  const LineChart chart =
      comparison_chart(compare_runs({run_of("a", 4), run_of("b", 1)}, 0.85));

  ASSERT_EQ(chart.series.size(), 2);
  EXPECT_THAT(chart.series[1].x, ElementsAre(1, 2));
  EXPECT_EQ(chart.mark->x, 2);
  EXPECT_EQ(chart.mark->name, "85 % reached first: b");
}

}  // namespace
}  // namespace convoy
