// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints and config.yaml files of the first release (old_runs/README.md).

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test_places.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

const std::filesystem::path kOldRuns =
    std::filesystem::path(CONVOY_SOURCE_DIR) / "tests/apps/old_runs";

class OldRun : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  std::filesystem::path checkpoint() const { return kOldRuns / GetParam(); }
  /// The digest in a file beside the checkpoint.
  std::string expected(const std::string& ending) const {
    return read_text(kOldRuns / (GetParam() + ending));
  }
};

TEST_P(OldRun, ResumesFromItsCheckpoint) {
  const CommandResult result = convoy(
      {"train", "train.resume=" + checkpoint().string(), "run.name=resumed", "--quiet"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), expected(".resumed.sha256"));
}

TEST_P(OldRun, IsRepeatedByItsConfig) {
  const CommandResult result =
      convoy({"train", "--config", (checkpoint() / "config.yaml").string(),
              "run.name=repeated", "--quiet"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(here() / "runs/repeated"), expected(".repeated.sha256"));
}

INSTANTIATE_TEST_SUITE_P(EveryFixture, OldRun, testing::Values("lanes", "adam", "async"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace convoy
