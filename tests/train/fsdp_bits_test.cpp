// SPDX-License-Identifier: Apache-2.0
//
// Training with fsdp ends at the bits of one rank alone: every level, one and several
// micro-batches per rank, with AdamW, clipped gradients, averaged and frozen parameters,
// in every precision.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/comm/alone_comm.h"
#include "convoy/system/stop_request.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

struct FsdpRun {
  std::string model;
  ShardChoice shard;
  int ranks;
  int microbatches;
  bool keeps_values = false;  // fsdp.reshard_after_forward=false
  std::string freeze{};
  PrecisionChoice precision = PrecisionChoice::fp32;
  CompressChoice compress = CompressChoice::none;
};

/// One epoch of three steps, the last of them shorter. The averages have running
/// statistics of their own.
Settings fsdp_settings(const FsdpRun& run) {
  Settings settings =
      small_settings(2 * run.microbatches + 3, 9, run.microbatches + 1, 1);
  settings.model.name = run.model;
  set_small_images(run.model, settings);
  settings.train.epochs = 1;
  settings.train.microbatches = run.microbatches;
  // Of 16-bit values, the hash is to be that of the masters.
  settings.precision.name = run.precision;
  if (run.precision == PrecisionChoice::fp32) settings.train.ema = 0.9;
  settings.train.freeze = run.freeze;
  settings.optimizer.name = OptimizerChoice::adamw;
  settings.optimizer.lr = 0.001;
  settings.optimizer.weight_decay = 0.01;
  settings.optimizer.clip_norm = 0.5;
  settings.ddp.compress = run.compress;
  settings.fsdp.shard = run.shard;
  settings.fsdp.reshard_after_forward = !run.keeps_values;
  return settings;
}

Outcome train_fsdp(Settings settings, StrategyChoice strategy, Comm& comm) {
  const StopRequest stop;
  settings.strategy.name = strategy;
  return Trainer(settings, comm).train(nullptr, nullptr, stop, "");
}

class FsdpEndsAtTheSameBits : public testing::TestWithParam<FsdpRun> {};

TEST_P(FsdpEndsAtTheSameBits, AsOneRankAlone) {
  const Settings settings = fsdp_settings(GetParam());
  AloneComm alone;
  const Outcome expected = train_fsdp(settings, StrategyChoice::single, alone);

  run_ranks(
      GetParam().ranks,
      [&](Comm& comm) {
        const Outcome found = train_fsdp(settings, StrategyChoice::fsdp, comm);
        EXPECT_EQ(found.weights_sha256, expected.weights_sha256);
        EXPECT_EQ(found.train.loss, expected.train.loss);
        EXPECT_EQ(found.test->sum.loss, expected.test->sum.loss);
      },
      Transport::shared);
}

/// Every level with the small model on several numbers of ranks; with the larger ones
/// each level once, and what is divided most with one and with several micro-batches per
/// rank.
std::vector<FsdpRun> all_fsdp_runs() {
  constexpr ShardChoice kLevels[] = {ShardChoice::optimizer, ShardChoice::gradients,
                                     ShardChoice::all};
  std::vector<FsdpRun> runs;
  for (const ShardChoice shard : kLevels) {
    for (const auto& [ranks, microbatches] :
         {std::pair{1, 3}, {2, 2}, {3, 7}, {4, 4}, {8, 8}, {8, 11}}) {
      runs.push_back({"vit_cifar", shard, ranks, microbatches});
    }
  }
  for (const char* model : {"vgg11", "resnet18_cifar"}) {
    runs.push_back({model, ShardChoice::optimizer, 2, 5});
    runs.push_back({model, ShardChoice::gradients, 3, 4});
    runs.push_back({model, ShardChoice::all, 2, 2});
    runs.push_back({model, ShardChoice::all, 3, 4});
  }
  const std::pair<const char*, const char*> frozen[] = {
      {"vgg11", "layers.[0-5].*,*.bias"}, {"vit_cifar", "patch_embed.*,*.bias"}};
  for (const auto& [model, freeze] : frozen) {
    runs.push_back({.model = model,
                    .shard = ShardChoice::all,
                    .ranks = 2,
                    .microbatches = 4,
                    .keeps_values = true,
                    .freeze = freeze});
  }
  for (const PrecisionChoice precision :
       {PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    for (const ShardChoice shard : kLevels) {
      for (const auto& [ranks, microbatches] :
           {std::pair{1, 3}, {2, 2}, {3, 7}, {4, 4}}) {
        runs.push_back({.model = "vit_cifar",
                        .shard = shard,
                        .ranks = ranks,
                        .microbatches = microbatches,
                        .precision = precision});
      }
    }
    runs.push_back({.model = "vgg11",
                    .shard = ShardChoice::all,
                    .ranks = 3,
                    .microbatches = 4,
                    .freeze = "layers.[0-5].*,*.bias",
                    .precision = precision});
  }
  for (const ShardChoice shard : kLevels) {
    for (const CompressChoice compress : {CompressChoice::fp16, CompressChoice::bf16}) {
      runs.push_back({.model = "lenet5",
                      .shard = shard,
                      .ranks = 3,
                      .microbatches = 7,
                      .compress = compress});
    }
  }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(Every, FsdpEndsAtTheSameBits, testing::ValuesIn(all_fsdp_runs()),
                         [](const testing::TestParamInfo<FsdpRun>& info) {
                           const FsdpRun& run = info.param;
                           return fmt::format(
                               "{}_{}_Ranks{}_Microbatches{}{}_{}_{}", run.model,
                               choice_name(run.shard), run.ranks, run.microbatches,
                               run.freeze.empty() ? "" : "_Frozen",
                               choice_name(run.precision), choice_name(run.compress));
                         });

/// Every unit has memory while it is used, and only then.
TEST(FsdpMemoryOfARun, IsThatOfTheOwnPartBetweenSteps) {
  const FsdpRun run = {"vgg11", ShardChoice::all, 4, 4};
  Settings settings = fsdp_settings(run);
  settings.train.ema = 0;
  settings.strategy.name = StrategyChoice::fsdp;
  run_ranks(
      4,
      [&](Comm& comm) {
        const StopRequest stop;
        Trainer trainer(settings, comm);
        trainer.train(nullptr, nullptr, stop, "");
        std::size_t here = 0;
        for (const float value : trainer.values().numbers()) here += value != 0;
        EXPECT_LT(here, trainer.values().size() / 3) << "rank " << comm.rank();
        EXPECT_GT(here, trainer.values().size() / 6) << "rank " << comm.rank();
      },
      Transport::shared);
}

}  // namespace
}  // namespace convoy
