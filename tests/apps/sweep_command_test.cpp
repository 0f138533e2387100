// SPDX-License-Identifier: Apache-2.0
//
// Studies as a user starts them: whole, interrupted, killed, and refused.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Study : public ProgramTest {
 protected:
  /// A study of small runs: two epochs of three steps each.
  static Arguments study(const std::string& command, const Arguments& more = {}) {
    return Arguments{command,
                     "data=synthetic",
                     "data.synthetic.train_count=80",
                     "data.synthetic.test_count=53",
                     "train.batch_size=32",
                     "train.epochs=2",
                     "cluster.threads=1",
                     "run.tensorboard=false",
                     "run.resources=false"} +
           more;
  }

  static Arguments sweep(const std::string& name, const Arguments& more = {}) {
    return study(
        "sweep",
        Arguments{"run.name=" + name, "--jobs", "2", "optimizer.lr=0.01,0.05"} + more);
  }

  std::string csv(const std::string& name) const {
    return read_text(here() / "runs" / name / "sweep.csv");
  }

  json result(const std::string& name) const {
    return read_json(here() / "runs" / name / "sweep.json");
  }
};

TEST_F(Study, MakesARunPerCombinationAndRanksThem) {
  const CommandResult made = convoy(sweep("a", {"train.seed=range(1,3)"}));
  ASSERT_EQ(made.code, 0) << made.out << made.err;

  const json found = result("a");
  EXPECT_EQ(found.at("groups").size(), 2);
  EXPECT_EQ(found.at("groups").at(0).at("accuracy").at("count"), 2);
  EXPECT_TRUE(fs::exists(here() / "runs" / "a" / "3" / "config.yaml"));
  EXPECT_FALSE(fs::exists(here() / "runs" / "a" / "logbook.md"));
  EXPECT_THAT(made.out, HasSubstr("place"));
  EXPECT_THAT(made.out, HasSubstr("best      convoy train "));
}

TEST_F(Study, EndsAtTheBitsOfARunAlone) {
  ASSERT_EQ(convoy(sweep("a")).code, 0);
  const CommandResult alone =
      convoy(study("train", {"run.name=alone", "optimizer.lr=0.05"}));
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(weights_of(here() / "runs" / "a" / "1"),
            weights_of(here() / "runs" / "alone"));
}

TEST_F(Study, MakesNoRunTwice) {
  ASSERT_EQ(convoy(sweep("a")).code, 0);
  const fs::path summary = here() / "runs" / "a" / "0" / "summary.json";
  const fs::file_time_type before = fs::last_write_time(summary);
  const CommandResult again = convoy(sweep("a"));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.out, HasSubstr("2 of 2 runs were complete"));
  EXPECT_EQ(fs::last_write_time(summary), before);
}

TEST_F(Study, RefusesAnotherCommandUnderItsNameAndSaysWhatDiffers) {
  ASSERT_EQ(convoy(sweep("a")).code, 0);
  const CommandResult other = convoy(sweep("a", {"optimizer.momentum=0.5"}));
  expect_refused(other, 78, {"optimizer.momentum: absent, now 0.5"});
}

TEST_F(Study, KilledAndResumedHasTheTableOfAnUndisturbedOne) {
  const Arguments more{"train.seed=range(1,4)", "train.epochs=3"};
  ASSERT_EQ(convoy(sweep("whole", more)).code, 0);
  for (int kill = 0; kill < 3; ++kill) {
    ConvoyProcess process(sweep("broken", more), here());
    process.wait_until([&] {
      return fs::exists(here() / "runs" / "broken" / std::to_string(2 * kill) /
                        "metrics.jsonl");
    });
    process.send(SIGKILL);
    process.wait();
  }
  const CommandResult resumed = convoy(sweep("broken", more));
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  EXPECT_EQ(csv("broken"), csv("whole"));
}

TEST_F(Study, StopsItsRunsGentlyAndCanBeResumed) {
  const Arguments endless{"train.epochs=1000000"};
  ConvoyProcess process(sweep("a", endless), here());
  ASSERT_TRUE(process.wait_until([&] {
    return fs::exists(here() / "runs/a/0/checkpoints/last") &&
           fs::exists(here() / "runs/a/1/checkpoints/last");
  })) << process.err();
  process.send(SIGINT);
  const CommandResult stopped = process.wait();
  EXPECT_EQ(stopped.code, 75) << stopped.out << stopped.err;
  EXPECT_EQ(read_json(here() / "runs/a/1/summary.json").at("exit").at("code"), 75);
  EXPECT_EQ(result("a").at("rows").at(0).at("state"), "unfinished");
}

TEST_F(Study, NamesARunThatFailsAndMakesTheOthers) {
  make_folders(here() / "runs" / "a");
  write_atomically(here() / "runs" / "a" / "0", "in the way of the first run\n");
  const CommandResult made = convoy(sweep("a"));
  EXPECT_EQ(made.code, 78) << made.out;
  EXPECT_THAT(made.out, HasSubstr("failed    run 0 with exit code 78 (bad settings): "
                                  "optimizer.lr=0.01"));
  EXPECT_EQ(result("a").at("rows").at(0).at("state"), "failed");
  EXPECT_EQ(result("a").at("rows").at(1).at("state"), "done");
}

TEST_F(Study, TakesADivergedRunForAResultThatIsWorseThanAll) {
  const CommandResult made =
      convoy(study("sweep", {"run.name=a", "--jobs", "1", "optimizer.lr=1e30,0.01"}));
  EXPECT_EQ(made.code, 0) << made.out << made.err;
  const json groups = result("a").at("groups");
  EXPECT_EQ(groups.at(0).at("values").at("optimizer.lr"), "0.01");
  EXPECT_EQ(groups.at(1).at("state"), "diverged");
}

TEST_F(Study, StopsHopelessRunsAtRungs) {
  const Arguments more{"--halving=2", "train.epochs=4", "train.seed=range(1,3)"};
  const CommandResult made = convoy(sweep("a", more));
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  EXPECT_THAT(made.out, HasSubstr("halving   after epoch 1: 1 of 2 continue"));
  const json groups = result("a").at("groups");
  EXPECT_EQ(groups.at(0).at("state"), "done");
  EXPECT_EQ(groups.at(1).at("state"), "halved");
  EXPECT_EQ(groups.at(1).at("epoch"), 1);

  const std::string first = csv("a");
  EXPECT_EQ(convoy(sweep("a", more)).code, 0);
  EXPECT_EQ(csv("a"), first);
}

TEST_F(Study, OnAVirtualClusterBeginsABrokenRunAgain) {
  const Arguments more{"--simulate", "-n", "2", "strategy=ps_async",
                       "train.batch_size=8"};
  ASSERT_EQ(convoy(sweep("whole", more)).code, 0);
  ConvoyProcess process(sweep("broken", more), here());
  process.wait_until(
      [&] { return fs::exists(here() / "runs/broken/0/checkpoints/last"); });
  process.send(SIGKILL);
  process.wait();
  EXPECT_EQ(convoy(sweep("broken", more)).code, 0);
  EXPECT_EQ(csv("broken"), csv("whole"));
}

TEST_F(Study, PrintsItsCombinationsWithoutRunningThem) {
  const CommandResult planned = convoy(sweep("a", {"--dry-run"}));
  EXPECT_EQ(planned.code, 0);
  EXPECT_THAT(planned.out, HasSubstr("1    optimizer.lr=0.05\n"));
  expect_nothing_written();
}

TEST_F(Study, RefusesTenMillionCombinations) {
  expect_refused(convoy(sweep("a", {"train.seed=range(10000000)"})), 78,
                 {"10,000,000 values"});
  expect_nothing_written();
}

TEST_F(Study, OfFoldsScoresEveryEpochAsARunOfThatLengthWould) {
  const Arguments more{"--folds", "2", "--jobs", "2", "optimizer.lr=0.05"};
  const Arguments both = more + Arguments{"train.epochs=1,2", "run.name=both"};
  ASSERT_EQ(convoy(study("kfold", both)).code, 0);
  const Arguments one = more + Arguments{"train.epochs=1", "run.name=one"};
  const CommandResult made = convoy(study("kfold", one));
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  const auto losses = [&](const std::string& name) {
    const json rows = result(name).at("rows");
    std::vector<double> found;
    for (const json& row : rows) {
      if (row.at("epoch") == 1) found.push_back(row.at("val").at("loss"));
    }
    return found;
  };
  EXPECT_EQ(losses("both").size(), 2);
  EXPECT_EQ(losses("both"), losses("one"));
  EXPECT_THAT(made.out, HasSubstr("by val loss, mean ± standard deviation"));
}

TEST_F(Study, OfOneFoldOrMoreFoldsThanSamplesIsRefused) {
  expect_refused(convoy(study("kfold", {"--folds", "1"})), 78, {"sweep.folds"});
  expect_refused(convoy(study("kfold", {"--folds", "81"})), 78, {"81 folds of 80"});
  expect_nothing_written();
}

TEST_F(ProgramTest, StopEpochEndsARunThatResumesToTheSameBits) {
  const fs::path whole = train("whole");
  EXPECT_EQ(convoy(small_training("part", {"train.stop_epoch=1"})).code, 75);
  const CommandResult rest = convoy({"train", "train.resume=runs/part"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(weights_of(here() / "runs" / "part"), weights_of(whole));
}

}  // namespace
}  // namespace convoy
