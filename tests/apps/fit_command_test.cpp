// SPDX-License-Identifier: Apache-2.0
//
// convoy fit and train.batch_size=max, as a user meets them.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class FitCommand : public ProgramTest {
 protected:
  /// A model whose activations take far more than everything else.
  const Arguments model_ = {"model=cnn1",
                            "data=synthetic",
                            "data.synthetic.train_count=4000",
                            "data.synthetic.test_count=20",
                            "cluster.threads=1",
                            "checkpoint.enabled=false"};

  int largest(const std::string& recompute, const std::string& memory) {
    const CommandResult result =
        convoy(Arguments{"fit", "--memory", memory, "--ranks", "1", "--json"} + model_);
    EXPECT_EQ(result.code, 0) << result.err;
    const json found = json::parse(result.out);
    for (const json& row : found.at("rows")) {
      if (row.at("strategy") == "single" && row.at("recompute") == recompute)
        return row.at("batch_size");
    }
    return 0;
  }
};

TEST_F(FitCommand, PrintsTheLargestBatchOfEveryStrategy) {
  const CommandResult result =
      convoy(Arguments{"fit", "--memory", "1GiB", "--ranks", "1,2"} + model_);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("within 1.0 GiB per machine"),
                                HasSubstr("largest batch"), HasSubstr("single"),
                                HasSubstr("ddp"), HasSubstr("fsdp"), HasSubstr("units")));
}

TEST_F(FitCommand, FindsWhatATrainingRefusesToExceed) {
  const int largest = this->largest("none", "256MiB");
  ASSERT_GT(largest, 16);
  const auto training = [&](int batch) {
    return convoy(Arguments{"train", "train.max_steps=1", "cluster.memory_gib=0.25",
                            "train.batch_size=" + std::to_string(batch)} +
                  model_);
  };

  EXPECT_EQ(training(largest).code, 0);
  expect_refused(training(largest + 16), 78,
                 {"memory", "planned with", "at most 256.0 MiB, cluster.memory_gib",
                  "train.batch_size=" + std::to_string(largest)});
}

TEST_F(FitCommand, GivesItsBatchToATrainingThatWantsTheLargest) {
  const int largest = this->largest("none", "128MiB");
  ASSERT_GT(largest, 0);

  const CommandResult result =
      convoy(Arguments{"train", "cluster.memory_gib=0.125", "train.batch_size=max",
                       "train.max_steps=1", "train.epochs=1", "run.name=a"} +
             model_);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_text(here() / "runs" / "a" / "config.yaml"),
              HasSubstr("batch_size: " + std::to_string(largest) + "\n"));
  const json memory =
      read_json(here() / "runs" / "a" / "summary.json").at("planned_memory");
  EXPECT_LE(memory.at("bytes"), 1 << 27);
}

}  // namespace
}  // namespace convoy
