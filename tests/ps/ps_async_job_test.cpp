// SPDX-License-Identifier: Apache-2.0
//
// ps_async with real workers: one alone is plain training; of several every batch counts
// once, whoever dies in between; and what was late is on record.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "convoy/comm/alone_comm.h"
#include "tests/base/expect_error.h"
#include "tests/ps/recorded_jobs.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;

// ---- one worker

struct Recipe {
  std::string name, model;
  std::function<void(Settings&)> change = [](Settings&) {};
  int servers = 1;
  int microbatches = 0;
};

/// Epochs of three steps, the last of which is smaller.
Settings settings_of(const Recipe& recipe) {
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
  settings.model.name = recipe.model;
  if (recipe.model == "vgg11") {
    settings.data.synthetic.channels = 3;
    settings.data.synthetic.height = settings.data.synthetic.width = 32;
    settings.train.epochs = 1;
  }
  settings.train.augment = AugmentChoice::crop_flip;
  settings.train.microbatches = recipe.microbatches;
  settings.strategy.name = StrategyChoice::ps_async;
  recipe.change(settings);
  return settings;
}

class AsyncWithOneWorker : public testing::TestWithParam<Recipe> {};

TEST_P(AsyncWithOneWorker, IsPlainTraining) {
  const Settings settings = settings_of(GetParam());
  Settings plain = settings;
  plain.strategy.name = StrategyChoice::single;
  AloneComm comm;
  Trainer alone(plain, comm);
  const Outcome expected = [&] {
    const StopRequest stop;
    return alone.train(nullptr, nullptr, stop, "");
  }();

  const ServedResult found = run_served(settings, {.servers = GetParam().servers});

  EXPECT_THAT(found.weights, Each(expected.weights_sha256));
  EXPECT_EQ(found.outcome.train.loss, expected.train.loss);
  EXPECT_EQ(found.outcome.test->sum.loss, expected.test->sum.loss);
  EXPECT_EQ(found.endings.front().code, ExitCode::done);
}

void take_adam(Settings& settings) {
  settings.optimizer.name = OptimizerChoice::adam;
  settings.optimizer.lr = 0.001;
}

void take_all_that_clips_and_follows(Settings& settings) {
  settings.optimizer.name = OptimizerChoice::adamw;
  settings.optimizer.weight_decay = 0.01;
  settings.optimizer.clip_norm = 0.5;
  settings.schedule.name = ScheduleChoice::onecycle;
  settings.train.ema = 0.9;
}

void take_compensation(Settings& settings) {
  settings.ps.compensation =
      Compensation::dc_asgd_adaptive;  // of a way that is always zero
}

/// The first pushes overflow.
void take_o2(Settings& settings) {
  take_adam(settings);
  settings.precision.name = PrecisionChoice::amp_o2;
  settings.precision.init_scale = 16777216;
  settings.precision.growth_interval = 2;
}

void take_bf16(Settings& settings) { settings.precision.name = PrecisionChoice::bf16; }

void take_compressed(Settings& settings) { settings.ddp.compress = CompressChoice::fp16; }

/// A batch norm at the beginning, one in the middle, and a bias.
void take_frozen(Settings& settings) {
  settings.train.freeze = "layers.[0-5].*,layers.1[12].*,fc1.bias";
}

INSTANTIATE_TEST_SUITE_P(
    Every, AsyncWithOneWorker,
    testing::Values(Recipe{"sgd", "lenet5"},
                    Recipe{.name = "microbatches", .model = "lenet5", .microbatches = 3},
                    Recipe{"adam", "lenet5", take_adam},
                    Recipe{"clipped", "lenet5", take_all_that_clips_and_follows},
                    Recipe{"compensated", "lenet5", take_compensation},
                    Recipe{"dropout", "cnn1"}, Recipe{"batch_norm", "vgg11"},
                    Recipe{.name = "sgd_three", .model = "lenet5", .servers = 3},
                    Recipe{"adam_three", "lenet5", take_adam, 3},
                    Recipe{.name = "dropout_three", .model = "cnn1", .servers = 3},
                    Recipe{.name = "batch_norm_three", .model = "vgg11", .servers = 3},
                    Recipe{"o2", "lenet5", take_o2}, Recipe{"bf16", "vgg11", take_bf16},
                    Recipe{"o2_three", "lenet5", take_o2, 3},
                    Recipe{"compressed", "lenet5", take_compressed, 2},
                    Recipe{"frozen", "vgg11", take_frozen},
                    Recipe{"frozen_three", "vgg11", take_frozen, 3}),
    [](const auto& info) { return info.param.name; });

// ---- several workers

TEST_F(AsyncJob, AppliesEveryBatchOnce) {
  const ServedResult result = train({.workers = 2});

  EXPECT_EQ(result.outcome.code, ExitCode::done);
  expect_all_once();
  EXPECT_EQ(summary().at("ranks"), 2);
  EXPECT_EQ(summary().at("strategy"), "ps_async");
}

TEST_F(AsyncJob, AppliesEveryBatchOnceOnEveryServer) {
  const ServedResult result = train({.workers = 2, .servers = 3});

  EXPECT_EQ(result.outcome.code, ExitCode::done);
  expect_all_once(3);
  EXPECT_EQ(summary().at("servers"), 3);
  EXPECT_THAT(result.weights, Each(Eq(result.weights.front())));
}

TEST_F(AsyncJob, RecordsHowLateUpdatesWere) {
  train({.workers = 2});

  const std::vector<json> lines = step_lines();
  ASSERT_EQ(lines.size(), 18u);
  double sum = 0;
  std::uint64_t most = 0;
  for (const json& line : lines) {
    sum += line.at("staleness").at("mean").get<double>();
    most = std::max(most, line.at("staleness").at("max").get<std::uint64_t>());
  }
  const json staleness = summary().at("staleness");
  EXPECT_DOUBLE_EQ(staleness.at("mean").get<double>(), sum / 18);
  EXPECT_EQ(staleness.at("max"), most);
  std::uint64_t updates = 0;
  for (const json& bin : staleness.at("histogram")) {
    EXPECT_LE(bin.at("from"), bin.at("to"));
    updates += bin.at("updates").get<std::uint64_t>();
  }
  EXPECT_EQ(updates, 18u);
}

/// A worker ten times as slow as the other holds nobody up, unless a bound says so.
TEST_F(AsyncJob, KeepsWorkersInStepOnlyIfBound) {
  settings.inject.delay = "5";
  settings.inject.slow_rank = 1;
  settings.inject.slow_factor = 10;
  train({.workers = 2}, "free");
  settings.ps.max_staleness = "0";
  train({.workers = 2}, "bound");

  EXPECT_GT(summary("free").at("staleness").at("max"), 1);
  EXPECT_LE(summary("bound").at("staleness").at("max"), 1);
  EXPECT_EQ(summary("bound").at("steps"), 18);
  const json slept = summary("bound").at("slept_seconds");
  EXPECT_GE(slept[0], 10 * 0.005);
  EXPECT_GE(slept[1], 8 * 0.05);
}

// ---- workers that die

TEST_F(AsyncJob, AppliesEveryBatchOnceThoughWorkersDie) {
  const auto dies = [](int, int batches) {
    if (batches == 3) throw Died();
  };

  for (const int servers : {1, 2}) {
    SCOPED_TRACE(servers);
    const ServedResult result =
        train({.workers = 2, .servers = servers, .on_batch = dies});

    EXPECT_EQ(result.outcome.code, ExitCode::done);
    expect_all_once(servers);
    EXPECT_THAT(read_text(path() / "log.txt"), HasSubstr("worker 0"));
    std::filesystem::remove_all(path());
  }
}

TEST_F(AsyncJob, OfOneWorkerThatDiesIsPlainTraining) {
  const ServedResult whole = train({}, "whole");
  const ServedResult died = train({.on_batch = [](int, int batches) {
    if (batches == 4) throw Died();
  }});

  EXPECT_EQ(died.weights, whole.weights);
  EXPECT_EQ(died.outcome.train.loss, whole.outcome.train.loss);
}

TEST_F(AsyncJob, EndsWithoutAWorkerThatDoesNotComeBack) {
  settings.cluster.operation_timeout = 3;
  const ServedResult result = train({.workers = 2,
                                     .on_batch =
                                         [](int worker, int batches) {
                                           if (worker == 1 && batches == 3) throw Died();
                                         },
                                     .dead_come_back = false});

  EXPECT_EQ(result.outcome.code, ExitCode::rank_failed);
  EXPECT_THAT(result.outcome.reason, HasSubstr("worker 1 did not join again"));
  EXPECT_EQ(summary().at("steps"), 10 + 3);
}

TEST_F(SyncJob, EndsAtTheSameBitsThoughWorkersDie) {
  const ServedResult whole = train({.workers = 3}, "whole");
  for (const int servers : {1, 2}) {
    const ServedResult died =
        train({.workers = 3, .servers = servers, .on_batch = [](int worker, int batches) {
                 if (batches == 3 + worker) throw Died();
               }});

    EXPECT_THAT(died.weights, Each(whole.weights.front()));
    EXPECT_EQ(died.outcome.train.loss, whole.outcome.train.loss);
    std::filesystem::remove_all(path());
  }
}

TEST_F(SyncJob, NamesTheWorkerThatDoesNotComeBack) {
  settings.cluster.operation_timeout = 3;

  try {
    train({.workers = 2,
           .on_batch =
               [](int worker, int batches) {
                 if (worker == 1 && batches == 3) throw Died();
               },
           .dead_come_back = false});
    FAIL() << "it cannot go on";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.rank(), 2);
    EXPECT_THAT(error.what(), HasSubstr("worker 1 has not joined again"));
  }
}

// ---- a worker that dies when one of two servers has its push

/// Cuts the line of worker 0 to the second server once, at that batch.
class CutAt {
 public:
  CutAt(ServedJob& job, int batch) {
    job.line = &line_;
    job.on_batch = [this, batch](int worker, int batches) {
      if (worker != 0 || batches != batch || std::exchange(is_cut_, true)) return;
      line_.cut();
    };
  }
  ~CutAt() { EXPECT_TRUE(is_cut_); }

 private:
  CutLine line_;
  bool is_cut_ = false;
};

/// In the middle, and at the worker's last batch; where servers meet after every update,
/// and where they do so rarely.
TEST_F(AsyncJob, AppliesEveryBatchOnceThoughAWorkerDiesBetweenServers) {
  for (const int log_every : {1, 50}) {
    for (const int batch : {3, 9}) {
      SCOPED_TRACE(fmt::format("batch {}, meeting every {}", batch, log_every));
      settings.train.log_every = log_every;
      ServedJob job{.workers = 2, .servers = 2};
      const CutAt cut(job, batch);

      const ServedResult result = train(job);

      EXPECT_EQ(result.outcome.code, ExitCode::done);
      expect_all_once(2);
      std::filesystem::remove_all(path());
    }
  }
}

TEST_F(SyncJob, EndsAtTheSameBitsThoughAWorkerDiesBetweenServers) {
  const ServedResult whole = train({.workers = 1}, "whole");
  for (const int workers : {1, 3}) {
    for (const int batch : {3, 17}) {
      SCOPED_TRACE(fmt::format("{} workers, batch {}", workers, batch));
      ServedJob job{.workers = workers, .servers = 2};
      const CutAt cut(job, batch);

      const ServedResult result = train(job);

      EXPECT_THAT(result.weights, Each(whole.weights.front()));
      EXPECT_EQ(result.outcome.train.loss, whole.outcome.train.loss);
      std::filesystem::remove_all(path());
    }
  }
}

// ---- what servers cannot do

TEST_F(AsyncJob, RefusesToClipWithoutSeeingAllGradients) {
  settings.optimizer.clip_norm = 1;
  settings.cluster.operation_timeout = 1;  // the worker waits for it

  expect_error(InputKind::settings, {"optimizer.clip_norm", "1 with 2 servers"},
               [&] { train({.workers = 1, .servers = 2}); });
}

}  // namespace
}  // namespace convoy
