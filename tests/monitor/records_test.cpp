// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Records in a folder of their own that log every second step of five.
class RecordsOfARun : public testing::Test {
 protected:
  std::vector<json> lines() {
    folder.flush();
    std::vector<json> result;
    std::istringstream text(read_text(folder.path() / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) result.push_back(json::parse(line));
    return result;
  }

  /// A step of four samples with this loss in all, of which one is right.
  void step(double loss) {
    const LossSum sum{.loss = loss, .correct = 1, .samples = 4};
    position.advance();
    epoch_sum += sum;
    records.step({.position = position,
                  .loss = sum,
                  .epoch_sum = epoch_sum,
                  .seconds = 0.001,
                  .learning_rate = learning_rate,
                  .reports = ranks});
  }

  void end_epoch() {
    records.end_epoch(position, epoch_sum, learning_rate);
    position = position.next_epoch();
    epoch_sum = {};
  }

  TrainPosition position;
  LossSum epoch_sum;
  double learning_rate = 0.25;
  std::vector<StepReport> ranks{1};

  TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere{std::fopen("/dev/null", "w"),
                                                          &std::fclose};
  Progress progress{nowhere.get(), {}};
  Records records{&folder,
                  &progress,
                  {.epochs = 2, .steps_in_epoch = 5, .steps = 10, .log_every = 2}};
};

TEST_F(RecordsOfARun, HoldEveryNthStep) {
  records.start_epoch();
  for (int i = 1; i <= 5; ++i) step(i);

  const std::vector<json> all = lines();
  ASSERT_EQ(all.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(all[i].at("kind"), "step");
    EXPECT_EQ(all[i].at("step"), 2 * (i + 1));
    EXPECT_EQ(all[i].at("epoch"), 1);
    EXPECT_EQ(all[i].at("loss"), 2.0 * static_cast<double>(i + 1) / 4);
    EXPECT_EQ(all[i].at("accuracy"), 0.25);
    EXPECT_EQ(all[i].at("lr"), 0.25);
  }
}

TEST_F(RecordsOfARun, HoldTheLearningRateOfTheStep) {
  records.start_epoch();
  step(1);
  learning_rate = 0.125;
  step(1);
  end_epoch();

  const std::vector<json> all = lines();
  EXPECT_EQ(all.at(0).at("lr"), 0.125);
  EXPECT_EQ(all.at(1).at("kind"), "epoch");
  EXPECT_EQ(all.at(1).at("lr"), 0.125);
}

TEST_F(RecordsOfARun, HoldTheMeanOfAnEpoch) {
  records.start_epoch();
  step(4);
  end_epoch();
  records.start_epoch();
  step(8);
  step(16);
  end_epoch();

  const json last = lines().back();
  EXPECT_EQ(last.at("kind"), "epoch");
  EXPECT_EQ(last.at("epoch"), 2);
  EXPECT_EQ(last.at("step"), 3);
  EXPECT_EQ(last.at("loss"), 3) << "the first epoch does not count";
  EXPECT_EQ(records.images(), 12u);
}

TEST_F(RecordsOfARun, SayEachEpochInTheFormThatScriptsRead) {
  records.start_epoch();
  step(4);
  step(2);
  end_epoch();

  EXPECT_THAT(
      read_text(folder.path() / "log.txt"),
      testing::ContainsRegex(
          "  Epoch: 1, Train Loss: 0.750, Train Accuracy: 0.250, Avg Batch "
          "Duration: 0.001 seconds, Epoch Duration: [0-9]+\\.[0-9]{3} seconds\n"));
}

TEST_F(RecordsOfARun, SayWhichRankItIsOfSeveral) {
  Records second{&folder, &progress, {.steps_in_epoch = 1, .ranks = 2, .rank = 1}};
  const LossSum sum{.loss = 1, .correct = 1, .samples = 1};
  const TrainPosition third{.step = 1, .epoch = 3, .step_in_epoch = 1};
  second.start_epoch();
  second.step({.position = third, .loss = sum, .epoch_sum = sum});
  second.end_epoch(third, sum, /*learning_rate=*/0.1);

  EXPECT_THAT(read_text(folder.path() / "log.txt"),
              HasSubstr("  Rank: 1, Epoch: 3, Train Loss: 1.000, "));
}

TEST_F(RecordsOfARun, GoToTheConsoleAsJsonWithTheSummaryLast) {
  const std::string path = (here.path() / "out").string();
  {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{std::fopen(path.c_str(), "w"),
                                                        &std::fclose};
    Progress as_json(out.get(), {.style = ProgressStyle::json});
    Records printed{&folder, &as_json, {.steps_in_epoch = 2, .log_every = 1}};
    const LossSum sum{.loss = 1, .correct = 1, .samples = 1};
    const TrainPosition first{.step = 1, .epoch = 1, .step_in_epoch = 1};
    printed.start_epoch();
    printed.step({.position = first, .loss = sum, .epoch_sum = sum, .reports = ranks});
    printed.end_epoch(first, sum, /*learning_rate=*/0.1);
    printed.say("for people");
    folder.flush();
    EXPECT_EQ(read_text(path), read_text(folder.path() / "metrics.jsonl"));
    printed.summary({{"steps", 1}});
  }

  EXPECT_THAT(read_text(path),
              testing::EndsWith("}\n{\"kind\":\"summary\",\"steps\":1}\n"));
  EXPECT_EQ(json::parse(read_text(folder.path() / "summary.json")), (json{{"steps", 1}}));
}

TEST_F(RecordsOfARun, HoldAnEvaluationWithItsSplit) {
  records.start_epoch();
  records.evaluation(position, "val", {.loss = 10, .correct = 3, .samples = 5},
                     /*seconds=*/1);

  const json line = lines().back();
  EXPECT_EQ(line.at("kind"), "eval");
  EXPECT_EQ(line.at("split"), "val");
  EXPECT_EQ(line.at("loss"), 2);
  EXPECT_EQ(line.at("correct"), 3);
  EXPECT_EQ(line.at("total"), 5);
  EXPECT_THAT(read_text(folder.path() / "log.txt"), HasSubstr("(3/5)"));
}

TEST_F(RecordsOfARun, AreLinesOfTheImagenetExampleInItsStyle) {
  Records lines_of{
      &folder,
      nullptr,
      {.steps_in_epoch = 3, .log_every = 2, .style = ConsoleStyle::imagenet}};
  lines_of.start_epoch();
  LossSum sum;
  for (std::size_t step = 1; step <= 3; ++step) {
    const LossSum batch{.loss = 8, .correct = 1, .samples = 4, .in_top = 2};
    sum += batch;
    // The second epoch: lines are of the steps of an epoch, not of the run.
    lines_of.step({.position = {.step = 3 + step, .epoch = 2, .step_in_epoch = step},
                   .loss = batch,
                   .epoch_sum = sum,
                   .reports = ranks});
  }
  const TrainPosition end{.step = 6, .epoch = 2, .step_in_epoch = 3};
  const std::vector<LossSum> batches(2, {.loss = 4, .correct = 3, .samples = 4});
  lines_of.end_epoch(end, sum, 0.1);
  lines_of.evaluation(end, "test", {.loss = 8, .correct = 6, .samples = 8}, 1, batches);
  lines_of.say_complete(61);
  folder.flush();

  const std::regex time("[0-9-]{10} [0-9:]{8}  ");
  EXPECT_EQ(std::regex_replace(read_text(folder.path() / "log.txt"), time, ""),
            "Epoch: [1][1/3]\tLoss 2.0000e+00 (2.0000e+00)\tAcc@1  25.00 ( 25.00)\t"
            "Acc@5  50.00 ( 50.00)\n"
            " * Train Acc@1 25.000 Train Acc@5 50.000\n"
            "Epoch: [1][1/2]\tLoss 1.0000e+00 (1.0000e+00)\tAcc@1  75.00 ( 75.00)\t"
            "Acc@5   0.00 (  0.00)\n"
            " * Val Acc@1 75.000 Val Acc@5 0.000\n"
            "Training complete in: 0:01:01.000000\n");
}

}  // namespace
}  // namespace convoy
