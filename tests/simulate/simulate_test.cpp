// SPDX-License-Identifier: Apache-2.0
//
// Runs under the virtual clock: the same seed gives the same run to the last bit, what
// should matter does, one worker is plain training, and time is what can be reckoned by
// hand.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/setup/workload.h"
#include "convoy/simulate/simulated_updates.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "convoy/updates/delay.h"
#include "tests/base/expect_error.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Ending {
  std::string weights;
  double train_loss = 0, test_loss = 0;

  bool operator==(const Ending&) const = default;
};

Ending ending_of(Trainer& trainer, RunFolder* folder = nullptr) {
  const StopRequest stop;
  const Outcome outcome = trainer.train(folder, nullptr, stop, "");
  return {weights_sha256(trainer.work().layout, trainer.values(),
                         trainer.work().statistics_layout, trainer.statistics()),
          outcome.train.loss, outcome.test ? outcome.test->sum.loss : 0};
}

Ending simulate(const Settings& settings, int workers, RunFolder* folder = nullptr) {
  AloneComm comm;
  Trainer trainer(settings, comm, simulated_updates(workers));
  return ending_of(trainer, folder);
}

Ending train_alone(Settings settings, int microbatches) {
  settings.strategy.name = StrategyChoice::single;
  settings.train.microbatches = microbatches;
  AloneComm comm;
  Trainer trainer(settings, comm);
  return ending_of(trainer);
}

class Simulated : public testing::Test {
 protected:
  Simulated() {
    settings.strategy.name = StrategyChoice::ps_async;
    settings.sim.compute_ms = "10";
  }

  /// Simulates in a folder of its own; its files are read afterwards.
  Ending run(int workers, const std::string& name = "a") {
    RunFolder folder = RunFolder::create(here.path(), name, "default");
    return simulate(settings, workers, &folder);
  }

  std::string metrics(const std::string& name) const {
    return read_text(here.path() / name / "metrics.jsonl");
  }
  json summary(const std::string& name = "a") const {
    return json::parse(read_text(here.path() / name / "summary.json"));
  }
  double virtual_seconds(const std::string& name = "a") const {
    return summary(name).at("virtual_seconds");
  }
  /// Without what the machine's clock and memory say.
  json repeatable_summary(const std::string& name) const {
    json all = summary(name);
    all.erase("wall_seconds");
    all.erase("computing_seconds");
    all.erase("peak_rss_bytes");
    return all;
  }

  void use_no_network() {
    settings.sim.latency_us = 0;
    settings.sim.bandwidth_gbps = 0;  // no limit
  }

  TemporaryFolder here;
  Settings settings = small_settings(48, 9, 8, /*threads=*/1);
};

// ---- the same run again

TEST_F(Simulated, RepeatsToTheBit) {
  settings.inject.delay = "10";
  settings.inject.delay_kind = DelayKind::gaussian;
  settings.sim.compute_kind = ComputeKind::lognormal;
  settings.ps.compensation = Compensation::dc_asgd;
  settings.train.augment = AugmentChoice::crop_flip;

  EXPECT_EQ(run(3, "a"), run(3, "b"));

  EXPECT_EQ(metrics("a"), metrics("b"));
  EXPECT_EQ(repeatable_summary("a"), repeatable_summary("b"));
  EXPECT_GT(virtual_seconds("a"), 0);
}

TEST_F(Simulated, SynchronousRepeatsToTheBit) {
  settings.strategy.name = StrategyChoice::ddp;
  settings.inject.delay = "10";
  settings.inject.delay_kind = DelayKind::pareto;

  EXPECT_EQ(run(3, "a"), run(3, "b"));

  EXPECT_EQ(metrics("a"), metrics("b"));
  EXPECT_EQ(repeatable_summary("a"), repeatable_summary("b"));
}

TEST_F(Simulated, DoesNotDependOnThreads) {
  settings.inject.delay = "10";
  settings.inject.delay_kind = DelayKind::gaussian;
  const Ending one = simulate(settings, 3);
  settings.cluster.threads = 2;

  EXPECT_EQ(simulate(settings, 3), one);
}

// ---- what matters

TEST_F(Simulated, ChangesWithWhateverMatters) {
  settings.inject.delay = "10";
  settings.inject.delay_kind = DelayKind::gaussian;
  settings.ps.compensation = Compensation::dc_asgd;
  settings.data.synthetic.train_count = 96;

  const std::pair<const char*, std::function<void(Settings&)>> changes[] = {
      {"nothing", [](Settings&) {}},
      {"seed", [](Settings& s) { s.train.seed = 2; }},
      {"lambda", [](Settings& s) { s.ps.lambda = 1; }},
      {"compensation", [](Settings& s) { s.ps.compensation = Compensation::none; }},
      {"adaptive",
       [](Settings& s) { s.ps.compensation = Compensation::dc_asgd_adaptive; }},
      {"scale_rate", [](Settings& s) { s.ps.scale_rate = true; }},
      {"bound", [](Settings& s) { s.ps.max_staleness = "0"; }},
      {"delay", [](Settings& s) { s.inject.delay = "2"; }},
      {"no delay", [](Settings& s) { s.inject.delay = "none"; }},
      {"pareto", [](Settings& s) { s.inject.delay_kind = DelayKind::pareto; }},
      {"on_off",
       [](Settings& s) {
         s.inject.delay_kind = DelayKind::on_off;
         s.inject.on_steps = s.inject.off_steps = 2;
       }},
      {"slow worker", [](Settings& s) { s.inject.slow_rank = 1; }},
      {"slow worker by milliseconds",
       [](Settings& s) {
         s.inject.slow_rank = 1;
         s.inject.slow_ms = 35;
       }},
      {"momentum", [](Settings& s) { s.optimizer.momentum = 0.5; }},
      {"shared", [](Settings& s) { s.data.partition = PartitionChoice::shared; }},
      {"labels", [](Settings& s) { s.data.partition = PartitionChoice::labels; }},
      {"split",
       [](Settings& s) {
         s.data.split = {90, 3, 5};
       }},
      {"split_seed",
       [](Settings& s) {
         s.data.split = {90, 3, 5};
         s.data.split_seed = 7;
       }},
      {"resize", [](Settings& s) { s.data.resize = 32; }},
      {"floats", [](Settings& s) { s.data.synthetic.dtype = PixelChoice::float32; }},
  };
  std::map<std::string, std::string> known;  // who ended there
  for (const auto& [name, change] : changes) {
    Settings changed = settings;
    change(changed);
    const auto [first, is_new] = known.try_emplace(simulate(changed, 3).weights, name);
    EXPECT_TRUE(is_new) << name << " ends where " << first->second << " does";
  }
  const auto [first, is_new] = known.try_emplace(simulate(settings, 2).weights, "");
  EXPECT_TRUE(is_new) << "two workers end where " << first->second << " does";
}

// ---- the same numbers as a run in real time

struct Recipe {
  std::string name, model;
  std::function<void(Settings&)> change = [](Settings&) {};
};

class SimulatedAsOne : public testing::TestWithParam<Recipe> {};

TEST_P(SimulatedAsOne, IsPlainTraining) {
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
  settings.model.name = GetParam().model;
  if (GetParam().model == "vgg11") {
    settings.data.synthetic.channels = 3;
    settings.data.synthetic.height = settings.data.synthetic.width = 32;
  }
  settings.train.augment = AugmentChoice::crop_flip;
  settings.strategy.name = StrategyChoice::ps_async;
  GetParam().change(settings);

  EXPECT_EQ(simulate(settings, 1), train_alone(settings, settings.train.microbatches));
}

INSTANTIATE_TEST_SUITE_P(
    Every, SimulatedAsOne,
    testing::Values(
        Recipe{"sgd", "lenet5"},
        Recipe{"microbatches", "lenet5", [](Settings& s) { s.train.microbatches = 3; }},
        Recipe{"adam_clipped", "lenet5",
               [](Settings& s) {
                 s.optimizer.name = OptimizerChoice::adam;
                 s.optimizer.clip_norm = 0.5;
               }},
        Recipe{"delayed", "lenet5", [](Settings& s) { s.inject.delay = "long"; }},
        Recipe{"dropout", "cnn1"}, Recipe{"batch_norm", "vgg11"}),
    [](const auto& info) { return info.param.name; });

class SimulatedStrategy : public testing::TestWithParam<StrategyChoice> {};

TEST_P(SimulatedStrategy, OfRanksEndsWhereOneRankWithAsManyMicrobatchesDoes) {
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
  settings.model.name = "cnn1";
  settings.strategy.name = GetParam();
  for (const int ranks : {2, 4}) {
    EXPECT_EQ(simulate(settings, ranks), train_alone(settings, ranks)) << ranks;
  }
}

INSTANTIATE_TEST_SUITE_P(Synchronous, SimulatedStrategy,
                         testing::Values(StrategyChoice::gather_scatter,
                                         StrategyChoice::all_reduce, StrategyChoice::ddp,
                                         StrategyChoice::ps_sync),
                         [](const auto& info) { return choice_name(info.param); });

// ---- time by hand

/// A batch takes 10 ms, a delay 10 ms, or 25 ms on the slow worker. Three batches each:
///
///   at  20  35  40  60  70  105 ms
///   of   0   1   0   0   1    1
///   late 0   1   1   0   2    0   updates since the worker was given its values
TEST_F(Simulated, TakesTheTimeThatCanBeReckoned) {
  use_no_network();
  settings.train.epochs = 1;
  settings.inject.delay = "10";
  settings.inject.slow_rank = 1;
  settings.inject.slow_factor = 2.5;

  run(2);

  EXPECT_NEAR(virtual_seconds(), 0.105, 1e-12);
  const json staleness = summary().at("staleness");
  EXPECT_EQ(staleness.at("updates"), 6);
  EXPECT_EQ(staleness.at("max"), 2);
  EXPECT_DOUBLE_EQ(staleness.at("mean").get<double>(), 4.0 / 6);
  EXPECT_EQ(staleness.at("histogram"), json({{{"from", 0}, {"to", 0}, {"updates", 3}},
                                             {{"from", 1}, {"to", 1}, {"updates", 2}},
                                             {{"from", 2}, {"to", 2}, {"updates", 1}}}));
  EXPECT_EQ(staleness.at("workers")[0].at("updates"), 3);
  EXPECT_DOUBLE_EQ(staleness.at("workers")[1].at("mean").get<double>(), 1);
  std::vector<double> times, late;
  std::istringstream text(metrics("a"));
  for (std::string line; std::getline(text, line);) {
    const json record = json::parse(line);
    if (record.at("kind") != "step") continue;
    times.push_back(record.at("virtual_seconds").get<double>() * 1e3);
    late.push_back(record.at("staleness").at("mean"));
  }
  EXPECT_THAT(times, testing::Pointwise(testing::DoubleNear(1e-9),
                                        {20.0, 35.0, 40.0, 60.0, 70.0, 105.0}));
  EXPECT_THAT(late, testing::ElementsAre(0, 1, 1, 0, 2, 0));
}

TEST_F(Simulated, CountsTheWayOfEveryMessage) {
  settings.train.epochs = 1;
  settings.sim.latency_us = 100;
  settings.sim.bandwidth_gbps = 1;
  run(1);

  const double bytes = summary().at("parameters").get<double>() * 4;
  const double message = bytes / (1e9 / 8);
  EXPECT_NEAR(virtual_seconds(), 6 * (0.010 + 2 * (message + 100e-6)), 1e-12);
  EXPECT_EQ(summary().at("bytes").at("sent"), 6 * bytes);
  EXPECT_EQ(summary().at("bytes").at("received"), 6 * bytes);
}

TEST_F(Simulated, IsNoFasterThanAWorkersOwnLink) {
  settings.train.epochs = 1;
  settings.sim.bandwidth_gbps = 1;
  run(1, "alike");
  settings.sim.server_gbps = 100;
  run(1, "faster");

  EXPECT_EQ(virtual_seconds("faster"), virtual_seconds("alike"));
}

/// Values reach the second worker only when those of the first are through, and so do
/// its gradients: of a batch each, the last message is the third in a row.
TEST_F(Simulated, LetsWorkersShareTheServersLink) {
  settings.data.synthetic.train_count = 16;
  settings.train.epochs = 1;
  settings.sim.latency_us = 100;
  settings.sim.server_gbps = 0.1;
  run(2);

  const double message = summary().at("parameters").get<double>() * 4 / (0.1e9 / 8);
  EXPECT_NEAR(virtual_seconds(), 0.010 + 3 * message + 2 * 100e-6, 1e-12);
}

TEST_F(Simulated, SleepsAsLongAsDelaysSay) {
  use_no_network();
  for (const DelayKind kind :
       {DelayKind::constant, DelayKind::gaussian, DelayKind::pareto, DelayKind::on_off}) {
    settings.inject.delay = "20";
    settings.inject.delay_kind = kind;
    settings.inject.on_steps = settings.inject.off_steps = 2;
    run(1, choice_name(kind));

    const Delay delay(settings.inject, settings.train.seed, 0);
    double expected = 0;
    for (std::size_t batch = 0; batch < 12; ++batch) {
      expected += 0.010 + delay.seconds(batch, 0.010);
    }
    EXPECT_NEAR(virtual_seconds(choice_name(kind)), expected, 1e-9) << choice_name(kind);
  }
}

TEST_F(Simulated, OfASmallerBatchIsSooner) {
  use_no_network();
  settings.data.synthetic.train_count = 20;
  settings.train.epochs = 1;
  run(1);

  EXPECT_NEAR(virtual_seconds(), 0.025, 1e-12);
}

TEST_F(Simulated, SynchronousWaitsForTheSlowest) {
  settings.strategy.name = StrategyChoice::ddp;
  run(2, "even");
  settings.inject.delay = "10";
  settings.inject.slow_rank = 1;
  settings.inject.slow_factor = 3;
  run(2, "uneven");

  EXPECT_NEAR(virtual_seconds("uneven") - virtual_seconds("even"), 12 * 0.030, 1e-9);
  EXPECT_GT(virtual_seconds("even"), 12 * 0.005) << "half a batch each, and an exchange";
}

TEST_F(Simulated, KeepsWorkersInStepIfBound) {
  settings.inject.delay = "5";
  settings.inject.slow_rank = 2;
  settings.inject.slow_factor = 20;
  run(3, "free");
  settings.ps.max_staleness = "0";
  run(3, "bound");

  EXPECT_GT(summary("free").at("staleness").at("max"), 2);
  EXPECT_LE(summary("bound").at("staleness").at("max"), 2);
  EXPECT_EQ(summary("bound").at("steps"), summary("free").at("steps"));
}

TEST_F(Simulated, HasRoomForManyWorkers) {
  settings.data.synthetic.train_count = 400;
  settings.train.batch_size = 2;
  settings.train.epochs = 1;
  run(100);

  EXPECT_EQ(summary().at("steps"), 200);
  EXPECT_EQ(summary().at("ranks"), 100);
  EXPECT_EQ(summary().at("staleness").at("workers").size(), 100u);
  EXPECT_GE(summary().at("staleness").at("max"), 99);
}

// ---- what is refused

TEST_F(Simulated, DoesNotGoOn) {
  settings.train.resume = "runs/a";
  for (const StrategyChoice strategy : {StrategyChoice::ps_async, StrategyChoice::ddp}) {
    settings.strategy.name = strategy;
    AloneComm comm;
    expect_error(InputKind::settings, {"train.resume", "runs/a", "cannot be resumed"},
                 [&] { Trainer(settings, comm, simulated_updates(2)); });
  }
}

}  // namespace
}  // namespace convoy
