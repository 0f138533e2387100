// SPDX-License-Identifier: Apache-2.0
//
// From a command line to the runs of a study.

#include "convoy/study/study_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/setup/workload.h"
#include "convoy/study/study_report.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

StudyPlan plan_of(StudyKind kind, std::vector<std::string> assignments) {
  const std::vector<std::string> small{"data=synthetic", "data.synthetic.train_count=80",
                                       "data.synthetic.test_count=20", "model=lenet5",
                                       "train.batch_size=16"};
  assignments.insert(assignments.begin(), small.begin(), small.end());
  return plan_study({.kind = kind, .assignments = assignments});
}

StudyPlan sweep_of(const std::vector<std::string>& assignments) {
  return plan_of(StudyKind::sweep, assignments);
}

StudyPlan kfold_of(const std::vector<std::string>& assignments) {
  return plan_of(StudyKind::kfold, assignments);
}

TEST(StudyPlanOfASweep, HasARunPerCombination) {
  const StudyPlan plan = sweep_of({"optimizer.lr=0.1,0.2", "train.seed=range(1,4)"});
  EXPECT_EQ(plan.runs.size(), 6);
  EXPECT_THAT(plan.runs[4].assignments, ElementsAre("optimizer.lr=0.2", "train.seed=2"));
  EXPECT_EQ(plan.rows[4].run, 4);
  EXPECT_EQ(plan.split, "test");
}

TEST(StudyPlanOfASweep, RanksByTheValidationSetIfThereIsOne) {
  EXPECT_EQ(sweep_of({"optimizer.lr=0.1,0.2", "data.val_fraction=0.2"}).split, "val");
}

TEST(StudyPlanOfASweep, TakesBracketsForASettingThatIsAList) {
  const StudyPlan plan = sweep_of({"schedule=step", "schedule.milestones=[1,2],[2,3]"});
  ASSERT_EQ(plan.runs.size(), 2);
  EXPECT_EQ(plan.first.schedule.milestones, (Numbers{1, 2}));
}

TEST(StudyPlanOfASweep, KeepsItsNameForTheSameCommandAlone) {
  const auto folder = [](const std::string& rates) {
    return sweep_of({"optimizer.lr=" + rates}).folder;
  };
  EXPECT_EQ(folder("0.1,0.2"), folder("0.1,0.2"));
  EXPECT_NE(folder("0.1,0.2"), folder("0.1,0.3"));
  EXPECT_EQ(sweep_of({"optimizer.lr=0.1,0.2", "run.name=mine", "run.dir=there"}).folder,
            std::filesystem::path("there/mine"));
}

TEST(StudyPlanOfASweep, ReadsAFileThatTheCommandLineOverrides) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "mine.yaml";
  write_atomically(file,
                   "optimizer.lr: 0.1,0.2\ntrain:\n  seed: range(1,4)\n"
                   "sweep:\n  trials: 7\n  simulate: true\n");
  const StudyPlan plan = sweep_of({"sweep=" + file, "train.seed=5", "sweep.trials=0"});
  EXPECT_THAT(plan.dimensions, ElementsAre("optimizer.lr"));
  EXPECT_EQ(plan.first.train.seed, 5);
  EXPECT_EQ(plan.options.trials, 0);
  EXPECT_TRUE(plan.options.simulate);
  EXPECT_EQ(plan.folder.filename(), "mine");
}

struct BadStudyCase {
  std::string assignment, message;
};

class BadStudy : public testing::TestWithParam<BadStudyCase> {};

TEST_P(BadStudy, IsRefusedBeforeAnythingStarts) {
  expect_error(InputKind::settings, {GetParam().message}, [] {
    sweep_of({"optimizer.lr=0.1,0.2", GetParam().assignment});
  });
}

INSTANTIATE_TEST_SUITE_P(
    Assignments, BadStudy,
    testing::Values(BadStudyCase{"run.name=a,b", "cannot vary"},
                    BadStudyCase{"run.dir=a,b", "cannot vary"},
                    BadStudyCase{"cluster.master_port=range(3)", "cannot vary"},
                    BadStudyCase{"train.resume=runs/a", "resumes its study"},
                    BadStudyCase{"cluster.nnodes=2", "one machine"},
                    BadStudyCase{"train.epoch=1,2", "train.epochs"},
                    BadStudyCase{"optimizer.momentum=0.9,1.5", "optimizer.momentum"},
                    BadStudyCase{"train.batch_size=16,100", "at most 80"},
                    BadStudyCase{"train.seed=range(10000)", "20,000 combinations"},
                    BadStudyCase{"train.seed=range(3,3)", "no value"},
                    BadStudyCase{"sweep.trails=3", "sweep.trials"},
                    BadStudyCase{"sweep.trials=many", "a whole number"},
                    BadStudyCase{"sweep=no_such_sweep", "no_such_sweep"},
                    BadStudyCase{"sweep.halving=1", "from 2"}));

TEST(StudyPlanOfASweep, IsRefusedIfNothingVaries) {
  expect_error(InputKind::settings, {"no setting with several values"},
               [] { sweep_of({"optimizer.lr=0.1"}); });
}

TEST(StudiesAsFiles, HaveOnlySettingsThatExist) {
  const std::filesystem::path configs =
      std::filesystem::path(CONVOY_SOURCE_DIR) / "configs";
  const SettingsContext context{.names = known_names(), .folders = {configs}};
  const std::vector<std::string> names = option_names("sweep", context);
  EXPECT_THAT(names, testing::IsSupersetOf({"kfold_fashion_sgd", "async_delays"}));
  for (const std::string& name : names) {
    const StudyQuestion question =
        read_question({.assignments = {"sweep=" + name}}, context);
    const Combination last = combinations(question.dimensions, {}).back();
    std::vector<std::string> assignments;
    for (const SettingAssignment& one : question.fixed) {
      assignments.push_back(one.name + "=" + one.value);
    }
    for (std::size_t d = 0; d < last.size(); ++d) {
      assignments.push_back(question.dimensions[d].name + "=" + last[d]);
    }
    EXPECT_NO_THROW(resolve_settings(assignments, {}, context)) << name;
  }
}

TEST(StudyPlanOfACrossValidation, TrainsOncePerFold) {
  const StudyPlan plan = kfold_of({"optimizer.lr=0.1,0.2", "sweep.folds=4"});
  EXPECT_EQ(plan.runs.size(), 8);
  EXPECT_THAT(plan.dimensions, ElementsAre("optimizer.lr", "data.fold"));
  EXPECT_THAT(plan.fixed, Contains("data.folds=4"));
  EXPECT_THAT(plan.fixed, Contains("checkpoint.enabled=false"));
  EXPECT_EQ(plan.split, "val");
  EXPECT_EQ(plan.metric, BestMetric::loss);
}

TEST(StudyPlanOfACrossValidation, NeedsNoGrid) {
  EXPECT_EQ(kfold_of({"sweep.folds=3"}).runs.size(), 3);
}

TEST(StudyPlanOfACrossValidation, SharesRunsThatDifferInEpochsAlone) {
  const StudyPlan plan = kfold_of({"train.epochs=2,4,6", "sweep.folds=2"});
  EXPECT_EQ(plan.rows.size(), 6);
  ASSERT_EQ(plan.runs.size(), 2);
  EXPECT_EQ(plan.runs[0].epochs, 6);
  EXPECT_THAT(plan.runs[0].assignments,
              ElementsAre("train.epochs=6", "data.fold=0", "eval.every_epochs=2"));
  EXPECT_EQ(plan.rows[2].epoch, 4);
}

TEST(StudyPlanOfACrossValidation, SharesNoRunWhoseScheduleSpansIt) {
  EXPECT_EQ(
      kfold_of({"train.epochs=2,4", "schedule=cosine", "sweep.folds=2"}).runs.size(), 4);
}

TEST(StudyPlanOfACrossValidation, SharesNoRunThatMayEndBeforeItsLastEpoch) {
  for (const char* early : {"train.target_accuracy=0.9", "train.patience=2"}) {
    const StudyPlan plan = kfold_of({"train.epochs=2,4", early, "sweep.folds=2"});
    EXPECT_EQ(plan.runs.size(), 4) << early;
  }
}

TEST(StudyPlanOfACrossValidation, RefusesOneFoldAndMoreFoldsThanSamples) {
  expect_error(InputKind::settings, {"sweep.folds", "from 2"},
               [] { kfold_of({"sweep.folds=1"}); });
  expect_error(InputKind::settings, {"data.folds", "81 folds of 80 samples"},
               [] { kfold_of({"sweep.folds=81"}); });
  expect_error(InputKind::settings, {"one way to hold out"},
               [] { kfold_of({"data.val_fraction=0.1"}); });
}

TEST(StudyPlanOfACrossValidation, TellsTheBestAsACommandWithoutItsFolds) {
  const StudyPlan plan = kfold_of({"optimizer.lr=0.1,0.2", "model.init='my file'"});
  const std::string command = command_of(plan, plan.rows[5]);
  EXPECT_THAT(command, testing::EndsWith("'model.init=my file' optimizer.lr=0.2"));
  EXPECT_THAT(command, testing::StartsWith("convoy train data=synthetic "));
  EXPECT_THAT(command, Not(HasSubstr("fold")));
}

}  // namespace
}  // namespace convoy
