// SPDX-License-Identifier: Apache-2.0
//
// Jobs with parameter servers, as processes: workers killed at random moments, a server
// killed, Ctrl-C. What a run was to do is done once, whatever happens to workers.
//
// CONVOY_WORKER_KILLS says how many are killed (script/torture sets it); a few by
// default.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/apps/rank_processes.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class ServedRun : public ProgramTest {
 protected:
  fs::path run(const std::string& name) const { return here() / "runs" / name; }
  json summary(const std::string& name) const {
    return read_json(run(name) / "summary.json");
  }

  /// Would go on for hours; each worker's batch takes some milliseconds at least.
  static Arguments endless(const std::string& strategy) {
    return small_training("a", {"-n", "2", "strategy=" + strategy, "train.microbatches=2",
                                "train.epochs=1000000", "checkpoint.every_steps=10",
                                "inject.delay=2", "cluster.threads=1"});
  }

  bool wait_for_checkpoint(ConvoyProcess& process) const {
    return process.wait_until(
        [&] { return fs::exists(run("a") / "checkpoints/last/manifest.json"); });
  }

  /// Goes on with the run for twenty steps more, from the newest checkpoint.
  void expect_goes_on() const {
    const int step = read_json(run("a") / "checkpoints/last/state.json").at("step");
    const CommandResult result = convoy({"train", "train.resume=" + run("a").string(),
                                         "train.max_steps=" + std::to_string(step + 20)});

    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_EQ(summary("a").at("steps"), step + 20);
    EXPECT_EQ(read_json_lines(run("a") / "metrics.jsonl").back().at("step"), step + 20);
  }
};

TEST_F(ServedRun, OfPsSyncEndsAtTheSameBitsAsOneProcess) {
  const std::string alone = weights_of(train("alone", {"train.microbatches=3"}));
  for (const char* servers : {"1", "2"}) {
    const std::string name = std::string("s") + servers;
    train(name, {"-n", "3", "strategy=ps_sync", std::string("ps.servers=") + servers});

    EXPECT_EQ(weights_of(run(name)), alone) << servers;
    EXPECT_EQ(summary(name).at("ranks"), 3);
  }
}

TEST_F(ServedRun, OfPsAsyncWithOneWorkerEndsAtTheSameBitsAsOneProcess) {
  const std::string alone = weights_of(train("alone"));
  train("a", {"strategy=ps_async"});
  train("b", {"strategy=ps_async", "ps.servers=2"});

  EXPECT_EQ(weights_of(run("a")), alone);
  EXPECT_EQ(weights_of(run("b")), alone);
}

class ServedStrategy : public ServedRun,
                       public testing::WithParamInterface<std::string> {};

TEST_P(ServedStrategy, NamesTheServerThatIsKilledAndGoesOnFromACheckpoint) {
  ConvoyProcess process(endless(GetParam()), here());
  ASSERT_TRUE(wait_for_checkpoint(process)) << process.out() << process.err();
  ::kill(rank_processes(here(), "0").at(0), SIGKILL);
  const CommandResult result = process.wait();

  EXPECT_EQ(result.code, 70) << result.err;
  EXPECT_THAT(result.err, HasSubstr("server 0"));
  EXPECT_THAT(result.err, HasSubstr("killed by SIGKILL"));
  EXPECT_THAT(result.err, Not(HasSubstr("started again")));
  EXPECT_THAT(rank_processes(here()), testing::IsEmpty());
  expect_goes_on();
}

TEST_P(ServedStrategy, StopsOnCtrlCAndGoesOn) {
  ConvoyProcess process(endless(GetParam()), here());
  ASSERT_TRUE(process.wait_for_output("epoch 3/")) << process.out() << process.err();
  process.send(SIGINT);
  const CommandResult result = process.wait();

  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_EQ(summary("a").at("exit").at("code"), 75);
  EXPECT_THAT(summary("a").at("exit").at("reason").get<std::string>(),
              HasSubstr("SIGINT"));
  EXPECT_THAT(rank_processes(here()), testing::IsEmpty());
  expect_goes_on();
}

INSTANTIATE_TEST_SUITE_P(Every, ServedStrategy, testing::Values("ps_async", "ps_sync"),
                         [](const auto& info) { return info.param; });

TEST_F(ServedRun, OfPsAsyncDoesNotGoOnWithOtherWorkers) {
  ConvoyProcess process(endless("ps_async"), here());
  ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.out() << process.err();
  process.send(SIGTERM);
  ASSERT_EQ(process.wait().code, 75);

  const CommandResult result =
      convoy({"train", "-n", "3", "train.resume=" + run("a").string()});

  EXPECT_EQ(result.code, 78) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 workers"));
  EXPECT_THAT(result.err, HasSubstr("-n and ps.servers stay the same"));
}

/// How often workers are started again, and how many servers there are, changes no bits
/// of ps_sync.
TEST_F(ServedRun, GoesOnWithOtherServersAndRestarts) {
  const fs::path whole = train("whole", {"train.microbatches=2"});
  const Arguments served = {"-n", "2", "strategy=ps_sync", "train.microbatches=2"};
  EXPECT_EQ(convoy(small_training("a", served + Arguments{"train.max_steps=2"})).code, 0);

  const CommandResult result =
      convoy({"train", "train.resume=" + run("a").string(), "train.max_steps=0",
              "ps.servers=2", "ps.restarts=9"});

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(weights_of(run("a")), weights_of(whole));
}

// ---- workers killed at random moments

class TortureOfWorkers : public ServedRun {
 protected:
  static int kills() {
    const char* value = std::getenv("CONVOY_WORKER_KILLS");
    return value == nullptr ? 4 : std::atoi(value);
  }

  /// A hundred batches a worker and kill, of some milliseconds each: there is time for
  /// all of them.
  Arguments training(const std::string& name, const Arguments& more) const {
    return Arguments{"train",
                     "model=lenet5",
                     "data=synthetic",
                     "data.synthetic.train_count=1600",
                     "data.synthetic.test_count=500",
                     "train.batch_size=16",
                     "train.microbatches=2",
                     "cluster.threads=1",
                     "ps.restarts=1000",
                     "run.name=" + name} +
           more;
  }

  /// Trains while workers, ranks 1 and 2, are killed; returns how it ended.
  CommandResult train_and_kill(const Arguments& words) const {
    ConvoyProcess process(words, here());
    EXPECT_TRUE(process.wait_for_output("run       ")) << process.err();
    std::mt19937 random(std::random_device{}());
    std::uniform_int_distribution<int> moment(20, 450), victim(1, 2);
    for (int killed = 0; killed < kills();) {
      std::this_thread::sleep_for(std::chrono::milliseconds(moment(random)));
      const std::string rank = std::to_string(victim(random));
      std::vector<int> found;
      if (!process.wait_until([&] {
            found = rank_processes(here(), rank);
            return !found.empty();
          })) {
        ADD_FAILURE() << "it ended after " << killed << " kills\n"
                      << process.out() << process.err();
        break;
      }
      ::kill(found.front(), SIGKILL);
      ++killed;
    }
    return process.wait(std::chrono::seconds(60 + 5 * kills()));
  }
};

TEST_F(TortureOfWorkers, AppliesEveryBatchOnceAndLearnsAsWell) {
  const std::string epochs = "train.epochs=" + std::to_string(2 * kills());
  const Arguments job = {"-n", "2", "strategy=ps_async", epochs};
  ASSERT_EQ(convoy(training("undisturbed", job)).code, 0);

  const CommandResult result =
      train_and_kill(training("killed", job + Arguments{"inject.delay=5"}));

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGKILL"));
  EXPECT_THAT(result.err, HasSubstr("started again"));
  const json found = summary("killed");
  EXPECT_EQ(found.at("steps"), 200 * kills());
  EXPECT_EQ(found.at("staleness").at("updates"), 200 * kills());
  for (const json& worker : found.at("staleness").at("workers")) {
    EXPECT_EQ(worker.at("updates"), 100 * kills());
  }
  EXPECT_EQ(
      read_json(run("killed") / "checkpoints/last/state.json").at("updates").at("pushes"),
      json({100 * kills(), 100 * kills()}));
  EXPECT_NEAR(found.at("test").at("accuracy").get<double>(),
              summary("undisturbed").at("test").at("accuracy").get<double>(), 0.05);
}

TEST_F(TortureOfWorkers, EndsAtTheSameBitsIfSynchronous) {
  const std::string epochs = "train.epochs=" + std::to_string(kills());
  ASSERT_EQ(convoy(training("undisturbed", {epochs})).code, 0);

  const CommandResult result = train_and_kill(
      training("killed", {"-n", "2", "strategy=ps_sync", epochs, "inject.delay=5"}));

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("started again"));
  EXPECT_EQ(summary("killed").at("steps"), 100 * kills());
  EXPECT_EQ(weights_of(run("killed")), weights_of(run("undisturbed")));
}

}  // namespace
}  // namespace convoy
