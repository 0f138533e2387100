// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of runs whose ranks have parts of values and state.

#include <gtest/gtest.h>

#include "tests/checkpoint/resumed_runs.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

using DividedCheckpoint = Resume;

/// From ddp on three ranks to fsdp on four, whose ranks have parts of everything, and
/// back, within an epoch each time; with averages, of which a checkpoint has more.
TEST_F(DividedCheckpoint, ResumesWholeOnesAndIsResumedByWholeOnes) {
  Settings settings = settings_of_resumed("vit_cifar");
  settings.optimizer.name = OptimizerChoice::adamw;
  settings.optimizer.clip_norm = 0.5;
  settings.train.ema = 0.9;
  train(settings, "whole");
  strategy = "ddp";
  train(settings, "ddp", 3);
  for (const ShardChoice shard :
       {ShardChoice::all, ShardChoice::gradients, ShardChoice::optimizer}) {
    settings.fsdp.shard = shard;
    strategy = "fsdp";
    train(going_on(settings, checkpoint("ddp", 1)), "fsdp", 4);
    EXPECT_EQ(weights("fsdp"), weights("whole"));
    strategy = "ddp";
    train(going_on(settings, checkpoint("fsdp", 2)), "again", 3);
    EXPECT_EQ(weights("again"), weights("whole"));
    fs::remove_all(here.path() / "fsdp");
    fs::remove_all(here.path() / "again");
  }
}

/// Whoever writes a checkpoint, its files are the same.
TEST_F(DividedCheckpoint, HasTheFilesOfAWholeOne) {
  Settings settings = settings_of_resumed("lenet5");
  settings.train.ema = 0.9;
  settings.train.freeze = "conv1.*";
  train(settings, "whole");
  strategy = "fsdp";
  train(settings, "fsdp", 3);
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_EQ(read_text(checkpoint("fsdp", 4) / file),
              read_text(checkpoint("whole", 4) / file))
        << file;
  }
}

/// All ranks decide together, though only the first knows what its folder has.
TEST_F(DividedCheckpoint, OfAFinishedRunIsLeftAsItIs) {
  Settings settings = settings_of_resumed("lenet5");
  strategy = "fsdp";
  train(settings, "a", 3);
  const std::string before = weights("a");
  train(going_on(settings, here.path() / "a"), "a", 3);
  EXPECT_EQ(weights("a"), before);
}

}  // namespace
}  // namespace convoy
