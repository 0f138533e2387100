// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/run_hparams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

TEST(RunHparams, HoldWhatPeopleVaryMost) {
  const Hparams found = run_hparams({});

  EXPECT_EQ(std::get<std::string>(found.at("model.name")), "lenet5");
  EXPECT_EQ(std::get<double>(found.at("train.batch_size")), 64);
  EXPECT_EQ(std::get<double>(found.at("optimizer.lr")), 0.01);
  EXPECT_EQ(std::get<double>(found.at("train.seed")), 1);
  EXPECT_EQ(std::get<std::string>(found.at("strategy.name")), "auto");
}

TEST(RunHparams, HoldWhatIsNotAtItsDefault) {
  EXPECT_THAT(run_hparams({}), Not(Contains(Key("eval.flip"))));
  Settings settings;
  settings.eval.flip = true;
  settings.schedule.milestones = {1, 2.5};
  settings.train.label_smoothing = 0.1;

  const Hparams found = run_hparams(settings);
  EXPECT_TRUE(std::get<bool>(found.at("eval.flip")));
  EXPECT_EQ(std::get<double>(found.at("train.label_smoothing")), 0.1);
  EXPECT_EQ(std::get<std::string>(found.at("schedule.milestones")), "[1, 2.5]");
}

TEST(RunHparams, HoldNothingAboutFilesAndPlaces) {
  Settings settings;
  settings.run.name = "mine";
  settings.run.histograms = 1;
  settings.data.root = "/somewhere";
  settings.checkpoint.upload = "s3://bucket";
  settings.train.resume = "auto";
  settings.cluster.master_addr = "host";

  EXPECT_EQ(run_hparams(settings), run_hparams({}));
}

TEST(RunHparams, AreTheSameColumnsInEveryRunOfAUsualSweep) {
  Settings first, second;
  first.optimizer.lr = 0.1;
  second.model.name = "cnn1";
  second.optimizer.momentum = 0;

  const Hparams a = run_hparams(first), b = run_hparams(second);
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_THAT(b, Contains(Key(name)));
}

}  // namespace
}  // namespace convoy
