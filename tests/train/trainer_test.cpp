// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/monitor/progress.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "tests/base/expect_error.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TrainerOfARun : public testing::Test {
 protected:
  Outcome train(Trainer& trainer, const std::string& name = "a") {
    RunFolder folder = RunFolder::create(here.path(), name, "default");
    Progress progress(nowhere.get(), {});
    return trainer.train(&folder, &progress, stop, "the command");
  }

  json summary(const std::string& name = "a") const {
    return json::parse(read_text(here.path() / name / "summary.json"));
  }

  CheckpointState saved(const Trainer& trainer) const {
    FlatBuffer values(trainer.work().layout);
    const CheckpointState state = load_checkpoint(find_checkpoint(here.path() / "a"),
                                                  {{trainer.work().layout, values}});
    EXPECT_EQ(weights_sha256(trainer.work().layout, values),
              weights_sha256(trainer.work().layout, trainer.values()));
    return state;
  }

  std::vector<std::string> evaluated_splits() const {
    std::vector<std::string> splits;
    std::istringstream text(read_text(here.path() / "a" / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const json record = json::parse(line);
      if (record.at("kind") == "eval") splits.push_back(record.at("split"));
    }
    return splits;
  }

  TemporaryFolder here;
  StopRequest stop;
  AloneComm comm;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere{std::fopen("/dev/null", "w"),
                                                          &std::fclose};
  // Five steps per epoch, the last of them smaller.
  Settings settings = small_settings(150, 31, 32, /*threads=*/2);
};

TEST_F(TrainerOfARun, GoesThroughEverySampleInEveryEpoch) {
  Trainer trainer(settings, comm);

  const Outcome outcome = train(trainer);

  EXPECT_EQ(outcome.code, ExitCode::done);
  EXPECT_EQ(outcome.train.samples, 150u) << "of the last epoch";
  EXPECT_EQ(outcome.test->sum.samples, 31u);
  EXPECT_EQ(summary().at("steps"), 10);
  EXPECT_EQ(summary().at("command"), "the command");
  const CheckpointState state = saved(trainer);
  EXPECT_EQ(state.step, 10u);
  EXPECT_EQ(state.samples, 150u);
}

TEST_F(TrainerOfARun, Learns) {
  settings.data.synthetic.noise = 0.1;
  settings.data.synthetic.train_count = 500;
  settings.train.epochs = 8;
  settings.optimizer.lr = 0.05;
  Trainer trainer(settings, comm);

  const Outcome outcome = train(trainer);

  EXPECT_GT(outcome.test->sum.accuracy(), 0.5) << "guessing gives 0.1";
}

TEST_F(TrainerOfARun, StopsAfterTheMostStepsAllowed) {
  settings.train.max_steps = 7;
  Trainer trainer(settings, comm);

  const Outcome outcome = train(trainer);

  EXPECT_EQ(outcome.code, ExitCode::done);
  const CheckpointState state = saved(trainer);
  EXPECT_EQ(state.step, 7u);
  EXPECT_EQ(state.epoch, 2);
  EXPECT_EQ(state.samples, 64u);
}

TEST_F(TrainerOfARun, StopsOnRequestAfterTheStep) {
  Trainer trainer(settings, comm);
  ::raise(SIGTERM);

  const Outcome outcome = train(trainer);

  EXPECT_EQ(outcome.code, ExitCode::stopped);
  EXPECT_THAT(outcome.reason, HasSubstr("SIGTERM after step 1 (epoch 1)"));
  EXPECT_FALSE(outcome.test.has_value());
  EXPECT_EQ(saved(trainer).step, 1u);
  EXPECT_EQ(summary().at("exit").at("code"), 75);
}

TEST_F(TrainerOfARun, IsDoneIfAskedToStopAtItsLastStep) {
  settings.train.max_steps = 1;
  Trainer trainer(settings, comm);
  ::raise(SIGINT);

  EXPECT_EQ(train(trainer).code, ExitCode::done);
}

TEST_F(TrainerOfARun, EndsAtTheSameBitsWithTheSameSettings) {
  settings.train.microbatches = 4;
  Trainer first(settings, comm);
  settings.cluster.threads = 1;
  Trainer second(settings, comm);
  train(first, "a");
  train(second, "b");

  EXPECT_EQ(summary("a").at("weights_sha256"), summary("b").at("weights_sha256"));
  EXPECT_EQ(summary("a").at("train"), summary("b").at("train"));
  EXPECT_EQ(summary("a").at("test"), summary("b").at("test"));
}

TEST_F(TrainerOfARun, LeavesItsValuesAloneWithoutALearningRate) {
  settings.optimizer.lr = 0;
  Trainer trainer(settings, comm);
  const std::string before = weights_sha256(trainer.work().layout, trainer.values());

  train(trainer);

  EXPECT_EQ(weights_sha256(trainer.work().layout, trainer.values()), before);
}

TEST_F(TrainerOfARun, LooksAtTheTestSetAfterEveryEpochWithoutValidation) {
  Trainer trainer(settings, comm);
  train(trainer);

  EXPECT_THAT(evaluated_splits(), testing::ElementsAre("test", "test"));
}

TEST_F(TrainerOfARun, KeepsTheTestSetForTheEndWithValidation) {
  settings.data.val_fraction = 0.2;
  settings.train.epochs = 3;
  Trainer trainer(settings, comm);
  train(trainer);

  EXPECT_EQ(trainer.work().samples.validation.size(), 30u);
  EXPECT_EQ(trainer.work().samples.train.size(), 120u);
  EXPECT_THAT(evaluated_splits(), testing::ElementsAre("val", "val", "val", "test"));
}

TEST_F(TrainerOfARun, PlansWhatItWillDo) {
  settings.train.max_steps = 7;
  settings.train.microbatches = 4;

  const std::string plan = Trainer(settings, comm).plan();

  for (const char* part :
       {"lenet5", "61,706 parameters", "150 training", "31 test", "2 threads",
        "in 4 micro-batches", "5 per epoch, 7 in total"}) {
    EXPECT_THAT(plan, HasSubstr(part));
  }
}

TEST_F(TrainerOfARun, RefusesABatchLargerThanItsTrainingSamples) {
  settings.data.train_fraction = 0.2;

  expect_error(InputKind::settings, {"train.batch_size", "32", "at most 30"},
               [&] { Trainer trainer(settings, comm); });
}

}  // namespace
}  // namespace convoy
