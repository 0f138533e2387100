// SPDX-License-Identifier: Apache-2.0
//
// Jobs of parameter servers that were stopped and go on.

#include <gmock/gmock.h>

#include "convoy/comm/planned_comm.h"
#include "tests/base/expect_error.h"
#include "tests/ps/recorded_jobs.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::Each;

class AsyncJobOfServers : public AsyncJob, public testing::WithParamInterface<int> {};

TEST_P(AsyncJobOfServers, GoesOnUntilEveryBatchIsApplied) {
  const int servers = GetParam();
  const ServedResult stopped = train_until(7, {.workers = 2, .servers = servers});
  ASSERT_EQ(stopped.outcome.code, ExitCode::stopped);
  for (const Assignment& ending : stopped.endings) {
    EXPECT_EQ(ending.code, ExitCode::stopped);
  }
  const auto before = summary().at("steps").get<std::uint64_t>();
  ASSERT_LT(before, 18u);

  settings.train.resume = path().string();
  const ServedResult done = train({.workers = 2, .servers = servers});

  EXPECT_EQ(done.outcome.code, ExitCode::done);
  EXPECT_EQ(summary().at("steps"), 18);
  EXPECT_EQ(summary().at("staleness").at("updates"), 18 - before);
  expect_all_pushed(servers);
  EXPECT_EQ(step_lines().size(), 18u) << "one row of records, none twice";
}

INSTANTIATE_TEST_SUITE_P(Any, AsyncJobOfServers, testing::Values(1, 2));

TEST_F(AsyncJob, GoesOnOnlyWithAsManyWorkers) {
  train_until(7, {.workers = 2});
  settings.train.resume = path().string();
  settings.cluster.operation_timeout = 1;  // the workers wait for it

  expect_error(InputKind::settings,
               {"train.resume", "3 workers and 1 servers", "-n and ps.servers"},
               [&] { train({.workers = 3}); });
}

TEST_F(AsyncJob, OfOneWorkerGoesOnToTheSameBits) {
  settings.optimizer.name = OptimizerChoice::adam;
  settings.optimizer.lr = 0.001;
  const ServedResult whole = train({}, "whole");
  ASSERT_EQ(train_until(5, {}).outcome.code, ExitCode::stopped);

  settings.train.resume = path().string();
  const ServedResult done = train({});

  EXPECT_EQ(done.weights, whole.weights);
  EXPECT_EQ(done.outcome.train.loss, whole.outcome.train.loss);
}

TEST_F(SyncJob, GoesOnToTheSameBitsWithOtherWorkersAndServers) {
  const ServedResult whole = train({.workers = 1}, "whole");
  ASSERT_EQ(train_until(4, {.workers = 3}).outcome.code, ExitCode::stopped);

  settings.train.resume = path().string();
  const ServedResult done = train({.workers = 2, .servers = 2});

  EXPECT_THAT(done.weights, Each(whole.weights.front()));
  EXPECT_EQ(done.outcome.train.loss, whole.outcome.train.loss);
  EXPECT_EQ(done.outcome.test->sum.loss, whole.outcome.test->sum.loss);
}

/// Servers that have made as many updates need not have made them of the same pushes.
TEST_F(AsyncJob, GoesOnWithWhatEachServerHad) {
  settings.ps.servers = 2;
  const Workload work = load_training_workload(settings);
  TrainingRig rig(work, rig_options(settings, work.layout));
  const auto restored = [&](int server, int servers, const json& state) {
    PlannedComm comm(server, servers);
    const auto updates = server_updates({.workers = 2})({settings, comm, work, rig});
    updates->restore(state, 7);
    return updates->state();
  };
  const json state = {{"workers", 2}, {"pushes", {4, 3, 3, 4}}};

  EXPECT_EQ(json(restored(0, 2, state)), state);
  EXPECT_EQ(json(restored(1, 2, state)), state);
  expect_error(InputKind::settings, {"train.resume", "2 workers and 1 servers"},
               [&] { restored(0, 1, state); });
}

// ---- in 16 bits

/// Of amp_o2 the first steps overflow, and no interval without overflow is over soon.
void take_16_bits(PrecisionChoice precision, Settings& settings) {
  settings.precision.name = precision;
  settings.precision.init_scale = 1048576;
  settings.optimizer.name = OptimizerChoice::adam;
  settings.optimizer.lr = 0.001;
}

TEST_F(SyncJob, GoesOnToTheSameBitsIn16Bits) {
  for (const PrecisionChoice precision :
       {PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    take_16_bits(precision, settings);
    settings.train.resume = "";
    const ServedResult whole = train({.workers = 1}, choice_name(precision));
    ASSERT_EQ(train_until(6, {.workers = 3}).outcome.code, ExitCode::stopped);
    const json scale = last_state().at("loss_scale");

    settings.train.resume = path().string();
    const ServedResult done = train({.workers = 2, .servers = 2});

    EXPECT_THAT(done.weights, Each(whole.weights.front())) << choice_name(precision);
    EXPECT_EQ(done.outcome.train.loss, whole.outcome.train.loss);
    ASSERT_EQ(scale.is_null(), precision == PrecisionChoice::bf16);
    if (!scale.is_null()) {
      EXPECT_GT(scale.at("skipped"), 0);
      EXPECT_GT(scale.at("good_steps"), 0);
      EXPECT_EQ(summary().at("amp"), summary("amp_o2").at("amp"));
    }
    std::filesystem::remove_all(path());
  }
}

TEST_F(AsyncJob, OfOneWorkerGoesOnToTheSameBitsIn16Bits) {
  for (const PrecisionChoice precision :
       {PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    take_16_bits(precision, settings);
    settings.train.resume = "";
    const std::string name = choice_name(precision);
    const ServedResult whole = train({}, name);
    ASSERT_EQ(train_until(6, {}).outcome.code, ExitCode::stopped);

    settings.train.resume = path().string();
    const ServedResult done = train({});

    EXPECT_EQ(done.weights, whole.weights) << name;
    EXPECT_EQ(summary().value("amp", json()), summary(name).value("amp", json()));
    std::filesystem::remove_all(path());
  }
}

TEST_P(AsyncJobOfServers, GoesOnWithItsLossScale) {
  const int servers = GetParam();
  take_16_bits(PrecisionChoice::amp_o2, settings);
  train_until(7, {.workers = 2, .servers = servers});
  const auto before = last_state().at("step").get<std::size_t>();

  settings.train.resume = path().string();
  train({.workers = 2, .servers = servers});

  expect_all_pushed(servers);
  const std::vector<json> lines = step_lines();
  ASSERT_EQ(lines.size(), 18u);
  ASSERT_GT(lines.at(before - 1).at("amp").at("skipped_steps"), 0);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const json &last = lines[i - 1].at("amp"), &next = lines[i].at("amp");
    EXPECT_LE(next.at("loss_scale"), last.at("loss_scale")) << "step " << i + 1;
    EXPECT_GE(next.at("skipped_steps"), last.at("skipped_steps")) << "step " << i + 1;
  }
}

}  // namespace
}  // namespace convoy
