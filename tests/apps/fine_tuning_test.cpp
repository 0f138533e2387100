// SPDX-License-Identifier: Apache-2.0
//
// Fine-tuning: a run that begins with the weights of another and trains a part of them.

#include <gmock/gmock.h>

#include <algorithm>

#include "convoy/checkpoint/safetensors.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class FineTuning : public ProgramTest {
 protected:
  static SafetensorsFile tensors_of(const fs::path& run, const std::string& file) {
    return SafetensorsFile::read(run / "checkpoints" / "last" / file);
  }

  static std::vector<float> tensor(const fs::path& run, const std::string& name) {
    const SafetensorsFile file = tensors_of(run, "model.safetensors");
    std::size_t size = 1;
    for (const std::size_t extent : file.shape(name)) size *= extent;
    std::vector<float> values(size);
    file.copy_values(name, values);
    return values;
  }
};

TEST_F(FineTuning, TrainsOnlyWhatIsNotFrozenAndKeepsNoStateOfTheRest) {
  const fs::path first = train("first");
  const fs::path second = train(
      "second", {"model.init=runs/first", "train.freeze=conv*,fc1.*", "train.seed=2"});

  EXPECT_EQ(tensor(second, "conv2.weight"), tensor(first, "conv2.weight"));
  EXPECT_NE(tensor(second, "fc2.weight"), tensor(first, "fc2.weight"));
  const SafetensorsFile state = tensors_of(second, "optimizer.safetensors");
  EXPECT_FALSE(state.contains("conv2.weight.momentum_buffer"));
  EXPECT_TRUE(state.contains("fc2.weight.momentum_buffer"));
  const nlohmann::json summary = read_json(second / "summary.json");
  EXPECT_EQ(summary.at("parameters"), 61706);
  EXPECT_EQ(summary.at("trained_parameters"), 84 * 120 + 84 + 10 * 84 + 10);
}

TEST_F(FineTuning, ResumesToTheSameBits) {
  const Arguments frozen = {"train.freeze=conv1.*,fc1.weight", "optimizer=adamw",
                            "optimizer.lr=0.001", "optimizer.layer_decay=0.8",
                            "train.microbatches=2"};
  const fs::path whole = train("whole", frozen);
  const fs::path parts = train("parts", frozen + Arguments{"train.max_steps=2"});
  const CommandResult resumed =
      convoy({"train", "train.resume=runs/parts", "train.max_steps=0", "-n", "2"});

  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights_of(parts), weights_of(whole));
}

TEST_F(FineTuning, GivesOtherClassesAHeadOfTheirOwnAndSaysSo) {
  train("first");
  const CommandResult result =
      convoy(small_training("second", {"model.init=runs/first", "train.max_steps=1",
                                       "data.synthetic.classes=4", "optimizer.lr=0"}));

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out + result.err,
              HasSubstr("8 of 10 tensors\n          for 10 classes there, so initialized "
                        "anew: fc3.weight, fc3.bias\n"));
  EXPECT_EQ(tensor(here() / "runs" / "second", "fc2.weight"),
            tensor(here() / "runs" / "first", "fc2.weight"));
  EXPECT_EQ(tensor(here() / "runs" / "second", "fc3.bias").size(), 4u);
}

TEST_F(FineTuning, SaysInThePlanHowManyParametersAreTrained) {
  const CommandResult some =
      convoy(small_training("a", {"train.freeze=conv*", "--dry-run"}));
  const CommandResult all = convoy(small_training("a", {"--dry-run"}));

  EXPECT_THAT(some.out, HasSubstr("61,706 parameters, 59,134 of them trained\n"));
  EXPECT_THAT(all.out, Not(HasSubstr("of them trained")));
}

TEST_F(FineTuning, RefusesAPatternThatMatchesNothingBeforeAnythingIsWritten) {
  expect_refused(convoy(small_training("a", {"train.freeze=cnov1.*"})), 78,
                 {"train.freeze", "nearest: conv1.*"});
  expect_nothing_written();
}

}  // namespace
}  // namespace convoy
