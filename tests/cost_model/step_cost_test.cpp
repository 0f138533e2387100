// SPDX-License-Identifier: Apache-2.0
//
// Steps whose cost can be computed by hand.

#include "convoy/cost_model/step_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/cost_model/cost_profile_file.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

constexpr double kForward = 1, kBackward = 2;
constexpr std::uint64_t kUnit = 400;  // bytes

/// Two equal units of one tensor each, on a machine with a core to spare.
CostProfile two_units() {
  CostProfile profile;
  profile.model = "two_units";
  profile.cores = 2;
  profile.pack = 16;
  profile.units = {{kUnit, {kUnit}}, {kUnit, {kUnit}}};
  const UnitSeconds unit{kForward, kBackward};
  profile.passes = {{16, {unit, unit}}};
  return profile;
}

CostProfile no_compute() {
  CostProfile profile = two_units();
  profile.passes = {{16, {{}, {}}}};
  return profile;
}

CostedJob machines(int count, double bandwidth) {
  CostedJob job{.cluster = {.machines = count, .bandwidth = bandwidth}};
  job.cluster.server_bandwidth = bandwidth;
  job.samples = job.batch = 16;
  job.bucket_bytes = kUnit;
  return job;
}

class EveryCostedStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryCostedStrategy, IsPureComputingWhereExchangingIsFree) {
  const StepCost cost = step_cost(GetParam(), two_units(), machines(4, 0));
  EXPECT_DOUBLE_EQ(cost.step, 2 * (kForward + kBackward));
  EXPECT_DOUBLE_EQ(cost.exposed, 0);
}

TEST_P(EveryCostedStrategy, TakesLongerOnASlowerLink) {
  if (GetParam() == "single") return;
  EXPECT_LT(step_cost(GetParam(), no_compute(), machines(4, 1000)).step,
            step_cost(GetParam(), no_compute(), machines(4, 100)).step);
}

std::string test_name(const testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryCostedStrategy, testing::ValuesIn(costed_strategies()),
                         test_name);

TEST(StepCost, AllReduceSendsAllBytesButTheOwnPartTwice) {
  const StepCost cost = step_cost("all_reduce", no_compute(), machines(4, 100));
  EXPECT_EQ(cost.sent, 2 * 2 * kUnit * 3 / 4);
  EXPECT_DOUBLE_EQ(cost.step, 2 * 2 * kUnit * 3 / 4 / 100.0);
}

TEST(StepCost, GatherScatterSendsEverythingThroughTheFirstRank) {
  const StepCost cost = step_cost("gather_scatter", no_compute(), machines(4, 100));
  EXPECT_EQ(cost.sent, 2 * kUnit * 3);
  EXPECT_DOUBLE_EQ(cost.step, 2 * 2 * kUnit * 3 / 100.0) << "in, and then out";
}

TEST(StepCost, ARingTakesARoundForEachOfTheOthersTwice) {
  CostedJob job = machines(4, 0);
  job.cluster.latency = 1;
  EXPECT_DOUBLE_EQ(step_cost("all_reduce/ring", no_compute(), job).step, 2 * 2 * 3 + 1)
      << "two tensors, and the small message";
  EXPECT_DOUBLE_EQ(step_cost("all_reduce", no_compute(), job).step, 2 * 2 + 1);
  EXPECT_DOUBLE_EQ(step_cost("all_reduce/tree", no_compute(), job).step, 2 * 2 * 2 + 1);
}

/// The exchange of a bucket between two ranks takes 400 / 100 = 4 seconds. The last
/// unit's is ready at 2 + 2 = 4, the first one's at 6, when the other has 2 to go.
TEST(StepCost, DdpOverlapsBucketByBucket) {
  const StepCost cost = step_cost("ddp", two_units(), machines(2, 100));
  EXPECT_DOUBLE_EQ(cost.step, 4 + 4 + 4);
  EXPECT_DOUBLE_EQ(cost.compute, 6);
  EXPECT_DOUBLE_EQ(cost.exposed, 6);
  CostedJob one_bucket = machines(2, 100);
  one_bucket.bucket_bytes = 2 * kUnit;
  EXPECT_DOUBLE_EQ(step_cost("ddp", two_units(), one_bucket).step, 6 + 8);
}

/// Each unit's all-gather takes 200 / 100 = 2 seconds, and so does its reduce-scatter:
///
/// The last unit stays from forward to backward.
///
///   exchange  | gather 0 | gather 1 |     | gather 0 | reduce 1 | reduce 0 |
///   compute              |fwd 0|    |fwd 1|  bwd 1   |  bwd 0   |
TEST(StepCost, FsdpGathersAUnitWhileTheOneBeforeItComputes) {
  const StepCost cost = step_cost("fsdp", two_units(), machines(2, 100));
  EXPECT_EQ(cost.sent, 5 * kUnit / 2);
  EXPECT_DOUBLE_EQ(cost.step, 11);
  EXPECT_DOUBLE_EQ(cost.exposed, 5);
}

TEST(StepCost, FsdpGathersInEveryPassAndSumsGradientsInEach) {
  CostedJob job = machines(2, 100);
  job.microbatches = 2;
  EXPECT_EQ(step_cost("fsdp", two_units(), job).sent, 2 * 5 * kUnit / 2);
  job.fsdp.reshards = false;
  EXPECT_EQ(step_cost("fsdp", two_units(), job).sent, (2 + 4) * kUnit / 2);
}

TEST(StepCost, FsdpGathersValuesOnceAfterTheUpdateIfTheyAreNotDivided) {
  CostedJob job = machines(2, 100);
  job.microbatches = 2;
  job.fsdp.shards_values = false;
  EXPECT_EQ(step_cost("fsdp", two_units(), job).sent, (4 + 2) * kUnit / 2);
  job.fsdp.shards_gradients = false;
  EXPECT_EQ(step_cost("fsdp", two_units(), job).sent, (2 + 2) * kUnit / 2);
}

TEST(StepCost, FsdpWaitsForEveryUnitWithoutPrefetch) {
  CostedJob job = machines(2, 100);
  const double overlapped = step_cost("fsdp", two_units(), job).step;
  job.fsdp.prefetches = false;
  EXPECT_GT(step_cost("fsdp", two_units(), job).step, overlapped);
}

TEST(StepCost, ServersShareTheBytes) {
  CostedJob job = machines(4, 100);
  EXPECT_DOUBLE_EQ(step_cost("ps_sync", no_compute(), job).step,
                   2 * 4 * 2 * kUnit / 100.0);
  job.servers = 4;
  EXPECT_DOUBLE_EQ(step_cost("ps_sync", no_compute(), job).step, 2 * 2 * kUnit / 100.0);
}

/// A worker's batch takes 6 seconds; its 800 bytes take the server's link 1, each way.
TEST(StepCost, AsynchronousWorkersWaitOnlyWhenTheServersLinkIsFull) {
  const StepCost few = step_cost("ps_async", two_units(), machines(2, 800));
  EXPECT_NEAR(few.step, 6 + 2, 1e-9);
  EXPECT_EQ(few.updates, 2);
  const StepCost many = step_cost("ps_async", two_units(), machines(32, 800));
  EXPECT_NEAR(many.step / many.updates, 1, 0.05) << "the link carries a push a second";
}

TEST(StepCost, LoadingTakesFromTheCoresThatCompute) {
  CostProfile profile = two_units();
  profile.load = 0.25;
  const double computing = 2 * (kForward + kBackward), loading = 16 * 0.25;
  EXPECT_DOUBLE_EQ(step_cost("single", profile, machines(1, 0)).step, computing)
      << "the second core is free";
  profile.cores = 1;
  EXPECT_DOUBLE_EQ(step_cost("single", profile, machines(1, 0)).step,
                   computing + loading);
  profile.cores = profile.threads = 2;
  EXPECT_DOUBLE_EQ(step_cost("single", profile, machines(1, 0)).step,
                   computing + loading / 2);
}

TEST(StepCost, BelowAPackAPassTakesNoLess) {
  CostProfile profile = two_units();
  profile.passes.push_back({32, {{2 * kForward, 2 * kBackward}, {kForward, kBackward}}});
  EXPECT_EQ(pass_of(profile, 1), profile.passes[0].units);
  EXPECT_EQ(pass_of(profile, 17), profile.passes[1].units) << "two packs";
  EXPECT_DOUBLE_EQ(pass_of(profile, 64)[0].forward, 4 * kForward);
}

TEST(StepCost, OfAStrategyThatHasNoneIsRefused) {
  expect_error(InputKind::settings, {"strategy.name", "none_such", "ddp"},
               [] { step_cost("none_such", two_units(), machines(2, 100)); });
}

TEST(StepCost, TellsWhatConvoyHasFromWhatIsPredictedOnly) {
  EXPECT_TRUE(can_run("ddp"));
  EXPECT_TRUE(can_run("fsdp"));
  EXPECT_FALSE(can_run("ddp/ring"));
}

TEST(CostProfileFile, ReadsWhatItHasWritten) {
  const TemporaryFolder folder;
  CostProfile profile = two_units();
  profile.all_reduce = CostCurve({{256, 1e-5}, {4096, 2e-5}});
  profile.tcp = {1e-4, 1e-5, 1e-9};
  write_profile(profile, folder.path() / "profile.json");
  EXPECT_EQ(read_profile(folder.path() / "profile.json"), profile);
}

TEST(CostProfileFile, RefusesWhatIsNoProfile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "profile.json";
  write_profile(two_units(), path);
  const std::string good = read_text(path);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"passes\"", "\"p\""},
        {"\"cores\": 2", "\"cores\": 0"},
        {"\"update\": 0.0", "\"update\": -1.0"}}) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), std::string::npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    write_atomically(path, bad);
    EXPECT_THROW(read_profile(path), InputError) << to;
  }
}

}  // namespace
}  // namespace convoy
