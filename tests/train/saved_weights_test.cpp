// SPDX-License-Identifier: Apache-2.0
//
// The weights that a run saves on its way (checkpoint.saves_per_epoch): the same files
// however the run was made.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "convoy/base/sha256.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/checkpoint/weight_saves.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/simulate/simulated_updates.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class SavedWeights : public testing::Test {
 protected:
  SavedWeights() {
    settings.train.microbatches = 4;
    settings.checkpoint.saves_per_epoch = 3;
  }

  /// Trains in the folder `name`, new or continued; it is stopped after step
  /// `stop_after`, by a signal that comes during it.
  void train(const std::string& name, int ranks = 1, std::size_t stop_after = 0) {
    const StopRequest stop;
    const fs::path path = here.path() / name;
    const bool continues = settings.train.resume == path.string();
    RunFolder folder = continues ? RunFolder::open(path)
                                 : RunFolder::create(here.path(), name, "default");
    run_ranks(ranks, [&](Comm& comm) {
      Trainer trainer(settings, comm);
      trainer.tell_steps_to([&](std::size_t step) {
        if (step + 1 == stop_after && comm.is_first()) ::raise(SIGTERM);
      });
      trainer.train(comm.is_first() ? &folder : nullptr, nullptr, stop, "");
    });
  }

  void resume(const std::string& name, int ranks = 1, std::size_t stop_after = 0) {
    settings.train.resume = (here.path() / name).string();
    train(name, ranks, stop_after);
    settings.train.resume.clear();
  }

  /// Names and digests of everything in the folder of saves.
  std::map<std::string, std::string> files(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(here.path() / name / "saves")) {
      found[entry.path().filename()] = sha256_hex(read_bytes(entry.path()));
    }
    return found;
  }

  std::vector<std::uint64_t> steps(const std::string& name) const {
    std::vector<std::uint64_t> found;
    for (const WeightSave& save : list_weight_saves(here.path() / name)) {
      found.push_back(save.step);
    }
    return found;
  }

  TemporaryFolder here;
  // Five steps per epoch.
  Settings settings = small_settings(75, 9, 16, /*threads=*/1);
};

TEST_F(SavedWeights, AreThoseBeforeTrainingAndSomeOfEveryEpoch) {
  train("a");

  EXPECT_THAT(steps("a"), ElementsAre(0, 1, 3, 5, 6, 8, 10));
}

TEST_F(SavedWeights, AreNoneUnlessWanted) {
  settings.checkpoint.saves_per_epoch = 0;
  train("a");

  EXPECT_THAT(steps("a"), IsEmpty());
  EXPECT_FALSE(fs::exists(here.path() / "a" / "saves"));
}

TEST_F(SavedWeights, OfTheLastStepAreThoseOfTheCheckpoint) {
  train("a");

  EXPECT_EQ(read_text(here.path() / "a/saves/00000010.safetensors"),
            read_text(here.path() / "a/checkpoints/last/model.safetensors"));
}

TEST_F(SavedWeights, AreTheTrainedOnesBesideAverages) {
  train("plain");
  settings.train.ema = 0.9;
  train("averaged");

  EXPECT_EQ(files("averaged"), files("plain"));
}

TEST_F(SavedWeights, AreTheSameOnAnyNumberOfRanks) {
  train("alone");
  train("two", /*ranks=*/2);
  train("three", /*ranks=*/3);

  EXPECT_EQ(files("two"), files("alone"));
  EXPECT_EQ(files("three"), files("alone"));
}

/// Step 3 is one whose weights are saved; step 4 is none.
TEST_F(SavedWeights, AreTheSameInARunThatWasStoppedAnywhere) {
  train("undisturbed");
  for (const std::size_t step : {2u, 3u, 4u, 5u}) {
    const std::string name = "stopped" + std::to_string(step);
    train(name, /*ranks=*/2, step);
    resume(name, /*ranks=*/1, step + 3);
    resume(name, /*ranks=*/3);

    EXPECT_EQ(files(name), files("undisturbed")) << step;
  }
}

/// As after a kill: files of steps after the checkpoint, and one that was being written.
TEST_F(SavedWeights, OfStepsThatAreMadeAgainAreMadeAgain) {
  train("undisturbed");
  train("a", /*ranks=*/1, /*stop_after=*/4);
  const fs::path saves = here.path() / "a" / "saves";
  write_atomically(saves / "00000005.safetensors", "of another way");
  write_atomically(saves / "00000007.safetensors", "of another way");
  write_atomically(saves / ".00000008.safetensors.tmp-0123abcd", "unfinished");

  resume("a");

  EXPECT_EQ(files("a"), files("undisturbed"));
}

TEST_F(SavedWeights, OfARunThatContinuesInANewFolderBeginWhereItDoes) {
  train("a", /*ranks=*/1, /*stop_after=*/4);
  settings.train.resume = (here.path() / "a/checkpoints/last").string();
  train("b");

  EXPECT_THAT(steps("b"), ElementsAre(4, 5, 6, 8, 10));
}

TEST_F(SavedWeights, AreThoseOfAVirtualClusterToo) {
  settings.strategy.name = StrategyChoice::ps_async;
  settings.sim.compute_ms = "10";
  const StopRequest stop;
  for (const char* name : {"a", "b"}) {
    RunFolder folder = RunFolder::create(here.path(), name, "default");
    AloneComm comm;
    Trainer trainer(settings, comm, simulated_updates(/*workers=*/2));
    trainer.train(&folder, nullptr, stop, "");
  }

  EXPECT_EQ(steps("a").size(), 1u + 2 * 3) << "per epoch, not per worker";
  EXPECT_EQ(files("a"), files("b"));
}

}  // namespace
}  // namespace convoy
