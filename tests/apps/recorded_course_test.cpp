// SPDX-License-Identifier: Apache-2.0
//
// What every strategy records besides losses: the point before training and the norm of
// the weights.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using nlohmann::json;

struct Course {
  const char* name;
  const char* command;
  Arguments more;
};

class RecordedCourse : public ProgramTest, public testing::WithParamInterface<Course> {};

TEST_P(RecordedCourse, BeginsBeforeTrainingAndHasWeightNorms) {
  Arguments arguments = small_training(
      "a", Arguments{"eval.before_training=true", "data.synthetic.train_count=128"} +
               GetParam().more);
  arguments.front() = GetParam().command;
  const CommandResult result = convoy(arguments);

  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("epoch 0/2  test  loss 2.3"));
  const std::vector<json> records = read_json_lines(here() / "runs/a/metrics.jsonl");
  EXPECT_EQ(records.front().at("kind"), "eval");
  EXPECT_EQ(records.front().at("step"), 0);
  int norms = 0;
  for (const json& record : records) {
    if (record.at("kind") == "eval") continue;
    EXPECT_NEAR(record.at("weight_norm"), 8.908, 0.01) << record;
    ++norms;
  }
  EXPECT_EQ(norms, 8 + 2);
}

class SvhnContest : public ProgramTest {};

INSTANTIATE_TEST_SUITE_P(
    Of, RecordedCourse,
    testing::Values(
        Course{"single", "train", {}}, Course{"ddp", "train", {"-n", "2"}},
        Course{"ps_sync", "train", {"-n", "2", "strategy=ps_sync", "ps.servers=2"}},
        Course{"ps_async", "train", {"-n", "2", "strategy=ps_async", "ps.servers=2"}},
        Course{"simulated", "simulate", {"-n", "2", "strategy=ps_async"}}),
    [](const auto& info) { return info.param.name; });

TEST_F(SvhnContest, EndsAtItsAccuracyAndSaysAfterWhatTime) {
  const CommandResult result = convoy(
      {"train", "experiment=svhn_90", "data=synthetic", "data.synthetic.channels=3",
       "data.synthetic.height=32", "data.synthetic.width=32",
       "data.synthetic.train_count=2000", "data.synthetic.test_count=100",
       "data.synthetic.noise=0.05", "run.name=a"});

  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("test accuracy reached 0.9 "));
  const json target = read_json(here() / "runs/a/summary.json").at("target");
  EXPECT_EQ(target.at("reached"), true);
  EXPECT_LT(target.at("epoch"), 40);
}

}  // namespace
}  // namespace convoy
