// SPDX-License-Identifier: Apache-2.0
//
// A training run that is told to stop: Ctrl-C and SIGTERM, once and twice.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// A run that would go on for hours. Its plan is printed just before the first step.
class Stop : public ProgramTest, public testing::WithParamInterface<int> {
 protected:
  static Arguments endless(const Arguments& more = {}) {
    return small_training("a", Arguments{"train.epochs=1000000"} + more);
  }

  fs::path run() const { return here() / "runs" / "a"; }
};

TEST_P(Stop, LeavesASummaryAndACheckpoint) {
  ConvoyProcess process(endless(), here());
  ASSERT_TRUE(process.wait_for_output("epoch 2/")) << process.err();
  process.send(GetParam());
  const CommandResult result = process.wait();

  EXPECT_EQ(result.code, 75) << result.out << result.err;
  const json summary = read_json(run() / "summary.json");
  const std::string reason = summary.at("exit").at("reason");
  EXPECT_EQ(summary.at("exit").at("code"), 75);
  EXPECT_THAT(reason, HasSubstr(GetParam() == SIGINT ? "SIGINT" : "SIGTERM"));
  EXPECT_THAT(result.err, HasSubstr(reason));
  const json state = read_json(run() / "checkpoints" / "last" / "state.json");
  EXPECT_EQ(state.at("step"), summary.at("steps"));
  EXPECT_EQ(state.at("epoch"), summary.at("epochs"));
}

TEST_P(Stop, LeavesACheckpointThatCanBeEvaluated) {
  ConvoyProcess process(endless(), here());
  ASSERT_TRUE(process.wait_for_output("epoch 1/")) << process.err();
  process.send(GetParam());
  process.wait();

  const CommandResult result = convoy({"eval", run().string()});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_json(run() / "eval.json").at("weights_sha256"), weights_of(run()));
}

TEST_P(Stop, IsCleanFromTheMomentThePlanIsPrinted) {
  ConvoyProcess process(endless(), here());
  ASSERT_TRUE(process.wait_for_output("memory ")) << process.err();
  process.send(GetParam());

  EXPECT_EQ(process.wait().code, 75);
  EXPECT_TRUE(fs::exists(run() / "checkpoints" / "last" / "manifest.json"));
}

TEST_P(Stop, EndsAtOnceTheSecondTime) {
  // One step of these takes many seconds, so that the second signal comes within it.
  ConvoyProcess process(
      endless({"network.kernels=reference", "model=cnn1", "train.batch_size=2000",
               "data.synthetic.train_count=2000", "cluster.threads=1"}),
      here());
  ASSERT_TRUE(process.wait_for_output("memory ")) << process.err();
  process.send(GetParam());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  process.send(GetParam());

  EXPECT_EQ(process.wait(std::chrono::seconds(5)).code, 130);
  EXPECT_FALSE(fs::exists(run() / "summary.json"));
}

INSTANTIATE_TEST_SUITE_P(Signals, Stop, testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

}  // namespace
}  // namespace convoy
