// SPDX-License-Identifier: Apache-2.0
//
// Training on several processes: our own launcher and those of others, the same bits, and
// ranks that are killed while they train.

#include <algorithm>
#include <csignal>
#include <fstream>

#include "convoy/base/clock.h"
#include "convoy/system/file.h"
#include "test_places.h"
#include "tests/apps/rank_processes.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Ranks : public ProgramTest {
 protected:
  static Arguments in_microbatches(const std::string& name, const Arguments& more = {}) {
    return small_training(name, Arguments{"train.microbatches=4"} + more);
  }

  static Arguments endless(const Arguments& more = {}) {
    return in_microbatches("a", Arguments{"-n", "4", "train.epochs=1000000"} + more);
  }

  /// Starts the program by another one.
  CommandResult run_by(const std::string& launcher_kind, const Arguments& words,
                       const std::string& name) const {
    ProcessOptions options;
    options.program = launcher_kind;
    options.environment = {{"XDG_RUNTIME_DIR", here().string()}};
    return run_convoy(words + Arguments{CONVOY_BINARY} + in_microbatches(name), here(),
                      options);
  }

  fs::path run(const std::string& name) const { return here() / "runs" / name; }

  /// The weights of the same run in one process.
  std::string weights_alone() const {
    return weights_of(train("alone", {"train.microbatches=4"}));
  }

  /// Processes of this test that are ranks; with a number: that rank.
  std::vector<int> ranks(const std::string& number = "") const {
    return rank_processes(here(), number);
  }

  /// Kills a rank as soon as `time_has_come`: all end within five seconds, the rank is
  /// named, and nothing is left.
  template <class Condition>
  void expect_named_after_kill(ConvoyProcess& process, const std::string& rank,
                               const Condition& time_has_come) {
    ASSERT_TRUE(process.wait_until(time_has_come)) << process.out() << process.err();
    std::vector<int> victims;
    ASSERT_TRUE(process.wait_until([&] { return !(victims = ranks(rank)).empty(); }));
    const Stopwatch watch;
    ::kill(victims.front(), SIGKILL);
    const CommandResult result = process.wait();

    EXPECT_LT(watch.seconds(), 5);
    EXPECT_EQ(result.code, 70);
    EXPECT_THAT(result.err, testing::StartsWith("convoy: rank " + rank + " on "));
    EXPECT_THAT(result.err, HasSubstr("killed by SIGKILL"));
    EXPECT_THAT(result.err.substr(1), Not(HasSubstr("convoy:"))) << "one message";
    EXPECT_THAT(ranks(), testing::IsEmpty());
  }

  /// As soon as the output has `text`.
  void expect_named_after_kill(ConvoyProcess& process, const std::string& text) {
    expect_named_after_kill(
        process, "2", [&] { return process.out().find(text) != std::string::npos; });
  }
};

TEST_F(Ranks, EndAtTheSameBitsAsOneProcess) {
  const std::string alone = weights_alone();
  for (const char* count : {"2", "3", "4"}) {
    const std::string name = std::string("n") + count;
    const CommandResult result = convoy(in_microbatches(name, {"-n", count}));

    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(weights_of(run(name)), alone) << count;
    const json summary = read_json(run(name) / "summary.json");
    EXPECT_EQ(summary.at("ranks"), std::stoi(count));
    EXPECT_THAT(summary.at("command").get<std::string>(), HasSubstr("-n"));
    EXPECT_THAT(result.out, Not(HasSubstr("[rank 1]"))) << "only the first speaks";
  }
}

TEST_F(Ranks, HaveALogEach) {
  train("a", {"-n", "2"});

  EXPECT_THAT(read_text(run("a") / "logs" / "rank-0.log"), HasSubstr("test accuracy"));
  for (const char* rank : {"0", "1"}) {
    const std::string log =
        read_text(run("a") / "logs" / ("rank-" + std::string(rank) + ".log"));
    for (const char* epoch : {"1", "2"}) {
      EXPECT_THAT(log, HasSubstr(std::string("Rank: ") + rank + ", Epoch: " + epoch +
                                 ", Train Loss: "));
    }
  }
}

TEST_F(Ranks, RepeatTheRunByItsConfig) {
  const fs::path first = train("a", {"-n", "2"});

  const CommandResult result =
      convoy({"train", "--config", (first / "config.yaml").string(), "run.name=b"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(run("b")), weights_of(first));
  EXPECT_EQ(read_json(run("b") / "summary.json").at("ranks"), 2);
}

TEST_F(Ranks, SayWhatIsWrongOnce) {
  const CommandResult result =
      convoy(in_microbatches("a", {"-n", "3", "train.microbatches=2"}));

  EXPECT_EQ(result.code, 78);
  EXPECT_THAT(result.err, HasSubstr("bad input: train.microbatches"));
  EXPECT_EQ(result.err.find("bad input"), result.err.rfind("bad input")) << result.err;
}

TEST_F(Ranks, NameTheOneThatDiesInMidTraining) {
  ConvoyProcess process(endless(), here());
  expect_named_after_kill(process, "epoch 2/");
  EXPECT_THAT(process.err(), testing::ContainsRegex("failed at step [0-9]+: "));
}

TEST_F(Ranks, NameTheOneThatDiesAtTheRendezvous) {
  ConvoyProcess process(endless(), here());
  expect_named_after_kill(process, "2", [] { return true; });
}

TEST_F(Ranks, NameTheOneThatDiesWhileItIsEvaluated) {
  ConvoyProcess process(endless({"data.synthetic.test_count=300000"}), here());
  expect_named_after_kill(process, "Train Loss");
}

TEST_F(Ranks, NameTheOneThatDiesWhileItSaves) {
  // A large model, so that there is time to kill it.
  ConvoyProcess process(
      in_microbatches("a", {"-n", "4", "model=resnet50", "train.max_steps=1",
                            "data.synthetic.height=32", "data.synthetic.width=32"}),
      here());
  const fs::path checkpoints = run("a") / "checkpoints";
  expect_named_after_kill(process, "0", [&] { return fs::exists(checkpoints); });

  EXPECT_FALSE(fs::exists(checkpoints / "last"));
  EXPECT_FALSE(fs::exists(checkpoints / "00000001"));
}

/// Nearly all of a step is gathers and reduce-scatters: a large model and few samples.
TEST_F(Ranks, NameTheOneThatDiesInTheExchangesOfFsdp) {
  ConvoyProcess process(
      in_microbatches("a", {"-n", "3", "strategy=fsdp", "model=vgg11",
                            "train.batch_size=4", "train.epochs=1000000",
                            "data.synthetic.train_count=16", "data.synthetic.channels=3",
                            "data.synthetic.height=32", "data.synthetic.width=32"}),
      here());
  expect_named_after_kill(process, "epoch 2/");
}

/// All ranks write a part of each file: any of them may die. The checkpoints before
/// remain, and other ranks go on from them.
TEST_F(Ranks, NameTheOneThatDiesWhileFsdpSaves) {
  const Arguments training = {"model=resnet50",           "train.max_steps=4",
                              "checkpoint.every_steps=1", "data.synthetic.height=32",
                              "data.synthetic.width=32",  "train.batch_size=4"};
  for (const char* rank : {"0", "2"}) {
    const std::string name = std::string("killed") + rank;
    ConvoyProcess process(
        in_microbatches(name, training + Arguments{"-n", "3", "strategy=fsdp"}), here());
    const fs::path checkpoints = run(name) / "checkpoints";
    std::string begun;
    const auto is_another_begun = [&] {
      std::error_code none_yet;
      for (const auto& entry : fs::directory_iterator(checkpoints, none_yet)) {
        for (const char* step : {"00000002", "00000003", "00000004"}) {
          if (is_temporary_name(step, entry.path().filename().string())) begun = step;
        }
      }
      return !begun.empty();
    };
    expect_named_after_kill(process, rank, is_another_begun);

    EXPECT_LT(fs::read_symlink(checkpoints / "last"), begun);
    EXPECT_FALSE(fs::exists(checkpoints / begun));
  }
  const Arguments resumed = {"train", "-n", "2", "strategy=ddp",
                             "train.resume=" + run("killed2").string()};
  EXPECT_EQ(convoy(resumed).code, 0);
  EXPECT_EQ(convoy(in_microbatches("alone", training)).code, 0);
  EXPECT_EQ(weights_of(run("killed2")), weights_of(run("alone")));
}

TEST_F(Ranks, EndAtTheSameBitsAsOneProcessWithFsdp) {
  const std::string alone = weights_alone();
  for (const char* shard : {"optimizer", "gradients", "all"}) {
    const std::string name = std::string("fsdp_") + shard;
    const CommandResult result = convoy(
        in_microbatches(name, {"-n", "3", "strategy=fsdp",
                               std::string("fsdp.shard=") + shard, "run.histograms=1"}));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(weights_of(run(name)), alone) << shard;
  }
}

TEST_F(Ranks, NameTheOneThatDiesWhileDataIsLoaded) {
  ConvoyProcess process(endless({"data.synthetic.train_count=200000"}), here());
  expect_named_after_kill(process, "rank 3: ");
}

TEST_F(Ranks, NameTheOneThatIsStopped) {
  ConvoyProcess process(endless({"cluster.operation_timeout=3"}), here());
  ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.err();
  ::kill(ranks("1").at(0), SIGSTOP);
  const CommandResult result = process.wait();

  EXPECT_EQ(result.code, 70);
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_THAT(result.err, HasSubstr("its process is stopped (SIGSTOP)"));
  EXPECT_THAT(ranks(), testing::IsEmpty());
}

TEST_F(Ranks, StopTogetherWithACheckpoint) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const std::string name = "s" + std::to_string(signal);
    ConvoyProcess process(in_microbatches(name, {"-n", "3", "train.epochs=1000000"}),
                          here());
    ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.err();
    process.send(signal);
    const CommandResult result = process.wait();

    EXPECT_EQ(result.code, 75) << result.err;
    EXPECT_EQ(read_json(run(name) / "summary.json").at("exit").at("code"), 75);
    EXPECT_TRUE(fs::exists(run(name) / "checkpoints" / "last" / "manifest.json"));
  }
}

TEST_F(Ranks, AreGoneWhenTheirLauncherIsKilled) {
  ConvoyProcess process(endless(), here());
  ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.err();
  process.send(SIGKILL);
  process.wait();

  for (int i = 0; i < 200 && !ranks().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(ranks(), testing::IsEmpty());
}

TEST_F(Ranks, LeaveTheirResourcesWhenTheyAreKilled) {
  ConvoyProcess process(endless(), here());
  const fs::path file = run("a") / "resources.csv";
  const auto rows_of = [&](const std::string& rank) {
    std::ifstream text(file);
    std::string line;
    std::getline(text, line);
    int rows = 0;
    while (std::getline(text, line)) {
      const bool whole = std::ranges::count(line, ',') == 10;
      rows += whole && line.find("," + rank + ",") == line.find(',');
    }
    return rows;
  };
  ASSERT_TRUE(process.wait_until([&] { return rows_of("3") >= 2; })) << process.err();
  process.send(SIGKILL);
  process.wait();

  int rows = 1;  // the header
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_GE(rows_of(rank), 1) << rank;
    rows += rows_of(rank);
  }
  const std::string text = read_text(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), rows) << "only whole rows";
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST_F(Ranks, StartUnderOpenMpi) {
  const CommandResult result = run_by(
      "/usr/bin/mpirun",
      {"--allow-run-as-root", "--oversubscribe", "--mca", "plm", "isolated", "-n", "3"},
      "a");

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("by Open MPI"));
  EXPECT_EQ(weights_of(run("a")), weights_alone());
}

// torchrun of Debian 12 (PyTorch 1.13 with Python 3.11) does not understand its own
// default of --redirects and --tee, hence the two options.
TEST_F(Ranks, StartUnderTorchrun) {
  const CommandResult result = run_by("/usr/bin/torchrun",
                                      {"--standalone", "--redirects", "1", "--tee", "1",
                                       "--nproc_per_node", "2", "--no_python"},
                                      "a");

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("by torchrun"));
  EXPECT_EQ(weights_of(run("a")), weights_alone());
}

TEST_F(Ranks, StartWithSlurmsVariables) {
  const auto start = [&](const char* rank) {
    ProcessOptions options;
    options.environment = {{"SLURM_PROCID", rank},
                           {"SLURM_NTASKS", "2"},
                           {"SLURM_LOCALID", rank},
                           {"SLURM_NODEID", "0"},
                           {"SLURM_NNODES", "1"},
                           {"SLURM_JOB_ID", "4711"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_JOB_NODELIST", "n1"},
                           {"XDG_RUNTIME_DIR", here().string()}};
    return std::make_unique<ConvoyProcess>(in_microbatches("a"), here(), options);
  };
  const auto second = start("1"), first = start("0");

  EXPECT_EQ(first->wait().code, 0) << first->err();
  EXPECT_EQ(second->wait().code, 0) << second->err();
  EXPECT_THAT(first->out(), HasSubstr("by Slurm"));
  EXPECT_EQ(weights_of(run("a")), weights_alone());
}

TEST_F(Ranks, AreRefusedAPlaceThatIsHalfSaid) {
  ProcessOptions options;
  options.environment = {{"RANK", "1"}};

  expect_refused(convoy(in_microbatches("a"), options), 78, {"environment: WORLD_SIZE"});
  expect_nothing_written();
}

}  // namespace
}  // namespace convoy
