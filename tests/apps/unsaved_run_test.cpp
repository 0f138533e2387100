// SPDX-License-Identifier: Apache-2.0
//
// A run that saves no checkpoint (checkpoint.enabled=false), as a user meets it.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class UnsavedRun : public ProgramTest {
 protected:
  static Arguments unsaved(const Arguments& more = {}) {
    return small_training("a", Arguments{"checkpoint.enabled=false"} + more);
  }

  fs::path run() const { return here() / "runs" / "a"; }
};

TEST_F(UnsavedRun, HasItsResultAndNoCheckpointAndSaysSo) {
  const CommandResult result = convoy(unsaved());

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      HasSubstr("no checkpoint was saved (checkpoint.enabled=false): this run can "
                "be neither resumed nor evaluated again"));
  EXPECT_EQ(weights_of(run()), weights_of(train("saved")));
  EXPECT_FALSE(fs::exists(run() / "checkpoints"));
  EXPECT_THAT(convoy({"eval", run().string()}).err, HasSubstr("see checkpoint.enabled"));
}

TEST_F(UnsavedRun, SavesNothingOnRanksOrServersEither) {
  for (const char* strategy : {"ddp", "ps_async"}) {
    const CommandResult result =
        convoy(small_training(strategy, {"checkpoint.enabled=false", "-n", "2",
                                         std::string("strategy=") + strategy}));

    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_FALSE(fs::exists(here() / "runs" / strategy / "checkpoints"));
  }
}

TEST_F(UnsavedRun, ThatIsStoppedStartsAgainAndSaysSo) {
  ConvoyProcess process(unsaved({"train.epochs=1000000"}), here());
  ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.err();
  process.send(SIGTERM);
  const CommandResult stopped = process.wait();
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("this run can be neither resumed"));

  const CommandResult again = convoy(unsaved({"train.resume=auto"}));

  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out,
              HasSubstr("has no checkpoint: the run starts again from its first step"));
  EXPECT_EQ(read_json(run() / "summary.json").at("steps"), 6);
  EXPECT_EQ(read_json_lines(run() / "metrics.jsonl").front().at("step"), 1);
}

}  // namespace
}  // namespace convoy
