// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/memory_plan.h"

#include <gtest/gtest.h>

#include "convoy/comm/reduction_order.h"
#include "convoy/network/microbatches.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

constexpr PlannedProcess kFirst{ProcessKind::rank, 0};

Settings settings_of(int batch) {
  return small_settings(/*train_count=*/200, /*test_count=*/20, batch, /*threads=*/2);
}

JobShape ranks_of(const std::string& strategy, int ranks) {
  return {.strategy = strategy, .ranks = ranks, .local_ranks = ranks};
}

TEST(MemoryPlan, HasTheArenaAndTheGradientsThatARunReserves) {
  Settings settings = settings_of(50);
  settings.train.microbatches = 3;
  const Workload work = load_workload(settings);
  TrainingRig rig(work, rig_options(settings, work.layout));
  rig.plan_passes(pass_options(settings, all_microbatches(3)));

  const MemoryPlan plan =
      MemoryPlanner(work).process(settings, ranks_of("single", 1), kFirst, 0);

  EXPECT_EQ(plan.activations, rig.network().arena_bytes());
  EXPECT_EQ(plan.strategy.gradients, rig.microbatches().gradient_bytes());
  EXPECT_EQ(plan.strategy.values, work.layout.size() * sizeof(float));
}

TEST(MemoryPlan, CountsBuffersOfGradientsAsMicrobatchesReserveThem) {
  const Settings settings = settings_of(64);
  const Workload work = load_workload(settings);
  for (const std::size_t microbatches : {1u, 2u, 3u, 5u, 8u, 13u}) {
    for (int ranks = 1; ranks <= 3 && ranks <= static_cast<int>(microbatches); ++ranks) {
      const ReductionOrder order(microbatches, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const MicrobatchPart part = order.microbatches_of(rank);
        TrainingRig rig(work, rig_options(settings, work.layout));
        rig.plan_passes(pass_options(settings, part));

        EXPECT_EQ(Microbatches::gradient_buffers(part) * work.layout.trained_size() *
                      sizeof(float),
                  rig.microbatches().gradient_bytes())
            << microbatches << " on rank " << rank << " of " << ranks;
      }
    }
  }
}

TEST(MemoryPlan, CountsEveryPart) {
  Settings settings = settings_of(50);
  settings.train.ema = 0.9;
  const Workload work = load_workload(settings);

  const MemoryPlan plan =
      MemoryPlanner(work).process(settings, ranks_of("gather_scatter", 2), kFirst, 0);

  std::size_t sum = 0;
  for (const auto& [name, bytes] : plan.parts()) {
    EXPECT_GT(bytes, 0u) << name;
    sum += bytes;
  }
  EXPECT_EQ(plan.total(), sum);
}

TEST(MemoryPlan, HasCopiesForCheckpointsOnTheFirstRankAlone) {
  Settings settings = settings_of(50);
  const Workload work = load_workload(settings);
  MemoryPlanner planner(work);
  const JobShape job = ranks_of("ddp", 2);
  const std::size_t whole = work.layout.size() * sizeof(float);

  EXPECT_EQ(planner.process(settings, job, kFirst, 0).strategy.checkpoint, 2 * whole);
  EXPECT_EQ(planner.process(settings, job, {ProcessKind::rank, 1}, 0).strategy.checkpoint,
            0u);
  settings.checkpoint.enabled = false;
  EXPECT_EQ(planner.process(settings, job, kFirst, 0).strategy.checkpoint, 0u);
}

TEST(MemoryPlan, DividesStateOverTheRanksOfFsdp) {
  const Settings settings = settings_of(64);
  const Workload work = load_workload(settings);
  MemoryPlanner planner(work);

  const StrategyMemory ddp =
      planner.process(settings, ranks_of("ddp", 4), kFirst, 0).strategy;
  const StrategyMemory fsdp =
      planner.process(settings, ranks_of("fsdp", 4), kFirst, 0).strategy;

  EXPECT_LT(fsdp.optimizer, ddp.optimizer);
  EXPECT_LT(fsdp.values, ddp.values + 1);
}

TEST(MemoryPlan, GivesServersNoActivationsAndWorkersNoState) {
  Settings settings = settings_of(64);
  settings.strategy.name = StrategyChoice::ps_sync;
  const Workload work = load_workload(settings);
  const JobShape job{.strategy = "ps_sync", .ranks = 2, .servers = 1, .local_ranks = 2};

  const std::vector<MemoryPlan> plans = MemoryPlanner(work).machine(settings, job, 0);

  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans[0].activations, 0u);
  EXPECT_GT(plans[0].strategy.optimizer, 0u);
  EXPECT_GT(plans[1].activations, 0u);
  EXPECT_EQ(plans[1].strategy.optimizer, 0u);
  EXPECT_EQ(plans[1].evaluation, 0u);
}

TEST(MemoryPlan, GrowsWithTheBatchAndShrinksWithMicrobatches) {
  const Settings small = settings_of(32), large = settings_of(160);
  Settings cut = large;
  cut.train.microbatches = 5;
  const Workload work = load_workload(small);
  MemoryPlanner planner(work);
  const JobShape job = ranks_of("single", 1);
  const auto activations = [&](const Settings& settings) {
    return planner.process(settings, job, kFirst, 0).activations;
  };

  EXPECT_GT(activations(large), activations(small));
  EXPECT_EQ(activations(cut), activations(small));
}

}  // namespace
}  // namespace convoy
