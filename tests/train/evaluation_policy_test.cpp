// SPDX-License-Identifier: Apache-2.0
//
// What evaluations decide and show: the accuracy that ends a run, the epochs before which
// it does not end, the epoch of the least loss, and the point before training.

#include "convoy/train/evaluation_policy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "convoy/setup/workload.h"
#include "tests/train/recorded_run.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

LossSum evaluation(double loss, std::uint64_t correct) {
  return {.loss = 10 * loss, .correct = correct, .samples = 10};
}

TEST(EvaluationPolicy, EndsARunAtItsTargetAndSaysWhen) {
  Settings settings;
  settings.train.target_accuracy = 0.8;
  EvaluationPolicy policy(settings);
  policy.take_in(evaluation(1, 7), 1, 10);
  EXPECT_EQ(policy.reason_to_end("val", 1), std::nullopt);
  EXPECT_THAT(policy.findings("test"),
              ElementsAre("test accuracy has not reached 0.8 (train.target_accuracy)"));
  policy.take_in(evaluation(1, 8), 2, 21.25);
  policy.take_in(evaluation(1, 9), 3, 30);

  EXPECT_EQ(policy.reason_to_end("val", 3), "train.target_accuracy=0.8 is reached");
  EXPECT_THAT(policy.findings("test"),
              ElementsAre("test accuracy reached 0.8 (train.target_accuracy) after 21.2 "
                          "s, in epoch 2: 0.8000"));
}

TEST(EvaluationPolicy, EndsNoRunBeforeItsFewestEpochs) {
  Settings settings;
  settings.train.target_accuracy = 0.5;
  settings.train.patience = 1;
  settings.train.min_epochs = 3;
  EvaluationPolicy policy(settings);
  for (const int epoch : {1, 2}) {
    policy.take_in(evaluation(1, 5), epoch, epoch);
    EXPECT_EQ(policy.reason_to_end("test", epoch), std::nullopt);
  }
  policy.take_in(evaluation(1, 4), 3, 3);

  EXPECT_NE(policy.reason_to_end("test", 3), std::nullopt);
  EXPECT_EQ(policy.target()->epoch, 1) << "it was reached long before";
}

TEST(EvaluationPolicy, KnowsTheEpochOfTheLeastLoss) {
  EvaluationPolicy policy{Settings()};
  for (const auto& [epoch, loss] :
       {std::pair(1, 2.0), std::pair(2, 0.5), std::pair(3, 0.5), std::pair(4, 1.0)}) {
    policy.take_in(evaluation(loss, 1), epoch, epoch);
  }

  EXPECT_EQ(policy.least_loss(), (LeastLoss{.epoch = 2, .loss = 0.5}));
  EXPECT_THAT(policy.findings("val"),
              ElementsAre("the least validation loss was at epoch 2 (0.5000)"));
  EXPECT_THAT(policy.findings("test"), testing::IsEmpty());
}

TEST(EvaluationPolicy, IsTheSameAfterAResumeUnlessTheTargetIsHigher) {
  Settings settings;
  settings.train.target_accuracy = 0.8;
  EvaluationPolicy before(settings);
  before.take_in(evaluation(1, 8), 2, 20);
  PolicyState state;
  before.save_to(state);
  EvaluationPolicy after(settings);
  after.restore_from(state);
  settings.train.target_accuracy = 0.9;
  EvaluationPolicy higher(settings);
  higher.restore_from(state);

  EXPECT_EQ(after.reason_to_end("val", 2), before.reason_to_end("val", 2));
  EXPECT_EQ(after.least_loss(), before.least_loss());
  EXPECT_EQ(higher.reason_to_end("val", 2), std::nullopt);
}

// ---- in a run

class EvaluatedRun : public RecordedRun {};

TEST_F(EvaluatedRun, EndsWhenItReachesItsTarget) {
  settings.train.epochs = 9;
  settings.train.target_accuracy = 1e-9;
  settings.train.min_epochs = 2;
  settings.data.synthetic.noise = 0.01;
  const json summary = train_and_sum_up("a");

  EXPECT_EQ(summary.at("epochs"), 2);
  EXPECT_EQ(summary.at("exit").at("code"), 0);
  EXPECT_EQ(summary.at("exit").at("reason"), "train.target_accuracy=1e-09 is reached");
  const json& target = summary.at("target");
  EXPECT_EQ(target.at("split"), "test");
  EXPECT_EQ(target.at("reached"), true);
  EXPECT_EQ(target.at("epoch"), 1);
  EXPECT_GT(target.at("seconds").get<double>(), 0);
  EXPECT_LE(target.at("seconds"), summary.at("seconds").at("total"));
  EXPECT_TRUE(summary.at("best_val_loss").is_null()) << "there is no validation set";
}

TEST_F(EvaluatedRun, SaysThatItDidNotReachItsTarget) {
  settings.train.target_accuracy = 1;
  settings.optimizer.lr = 0;
  const json summary = train_and_sum_up("a");

  EXPECT_EQ(summary.at("epochs"), 2);
  EXPECT_EQ(summary.at("target").at("reached"), false);
  EXPECT_TRUE(summary.at("target").at("seconds").is_null());
  EXPECT_THAT(read_text(here.path() / "a" / "log.txt"),
              HasSubstr("test accuracy has not reached 1 (train.target_accuracy)"));
}

TEST_F(EvaluatedRun, MarksTheEpochOfItsLeastValidationLoss) {
  settings.data.val_fraction = 0.2;
  settings.train.epochs = 3;
  const json summary = train_and_sum_up("a");

  json least;
  for (const json& record : records_of("a", "eval")) {
    if (record.at("split") != "val") continue;
    if (least.is_null() || record.at("loss") < least.at("loss")) least = record;
  }
  EXPECT_EQ(summary.at("best_val_loss").at("epoch"), least.at("epoch"));
  EXPECT_EQ(summary.at("best_val_loss").at("loss"), least.at("loss"));
  EXPECT_TRUE(summary.at("target").is_null());
  EXPECT_THAT(
      read_text(here.path() / "a" / "log.txt"),
      HasSubstr("the least validation loss was at epoch " + least.at("epoch").dump()));
}

TEST_F(EvaluatedRun, HasAPointBeforeTrainingThatDecidesNothing) {
  settings.train.target_accuracy = 1e-9;
  settings.schedule.name = ScheduleChoice::plateau;
  const json plain = train_and_sum_up("plain");
  settings.eval.before_training = true;
  const json summary = train_and_sum_up("a");

  const std::vector<json> evaluations = records_of("a", "eval");
  EXPECT_EQ(evaluations.size(), records_of("plain", "eval").size() + 1);
  EXPECT_EQ(evaluations.front().at("step"), 0);
  EXPECT_EQ(evaluations.front().at("epoch"), 0);
  EXPECT_NEAR(evaluations.front().at("loss"), std::log(10), 0.2);
  EXPECT_THAT(read_text(here.path() / "a" / "log.txt"), HasSubstr("epoch 0/2  test "));
  EXPECT_EQ(summary.at("epochs"), plain.at("epochs"));
  EXPECT_EQ(summary.at("weights_sha256"), plain.at("weights_sha256"));
}

TEST_F(EvaluatedRun, RecordsTheNormOfItsWeights) {
  settings.train.log_every = 4;
  Trainer trainer(settings, comm);
  RunFolder folder = RunFolder::create(here.path(), "a", "default");
  trainer.train(&folder, nullptr, stop, "");
  double squares = 0;
  for (const Segment& segment : trainer.work().layout.segments()) {
    for (const float value : trainer.values().view(segment.range)) {
      squares += static_cast<double>(value) * value;
    }
  }

  EXPECT_EQ(recorded("a", "step", "weight_norm").size(), 2u);
  const std::vector<double> epochs = recorded("a", "epoch", "weight_norm");
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_NEAR(epochs[1], std::sqrt(squares), 1e-9);
  EXPECT_NE(epochs[0], epochs[1]);
}

}  // namespace
}  // namespace convoy
