// SPDX-License-Identifier: Apache-2.0
//
// Runs on data that is split anew, resized, of many classes or of floats.

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class RunOnData : public ProgramTest {
 protected:
  /// Split anew, resized, augmented; 64 training samples.
  const Arguments changed{"data.split=64,16,40", "data.resize=20",
                          "train.augment=crop_flip", "model=cnn1",
                          "train.microbatches=2"};
};

TEST_F(RunOnData, ResumesToTheSameBits) {
  const std::string whole = weights_of(train("whole", changed));
  train("cut", changed + Arguments{"train.max_steps=3"});

  const CommandResult result =
      convoy({"train", "train.resume=runs/cut", "train.max_steps=0", "run.name=resumed"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), whole);
}

TEST_F(RunOnData, EndsAtTheSameBitsOnAnyNumberOfRanks) {
  EXPECT_EQ(weights_of(train("two", changed + Arguments{"-n", "2"})),
            weights_of(train("one", changed)));
}

TEST_F(RunOnData, EndsElsewhereWithAnotherSplitOrSize) {
  const std::string plain = weights_of(train("plain", changed));

  EXPECT_NE(weights_of(train("seed", changed + Arguments{"data.split_seed=7"})), plain);
  EXPECT_NE(weights_of(train("size", changed + Arguments{"data.resize=24"})), plain);
}

TEST_F(RunOnData, PlansWithTheNewSizes) {
  const CommandResult result =
      convoy(small_training("a", changed + Arguments{"--dry-run"}));

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("64 training, 16 validation, 40 test samples"));
  EXPECT_THAT(result.out, HasSubstr("cnn1 for 1 x 20 x 20 images"));
}

TEST_F(RunOnData, RefusesASplitThatDoesNotFitBeforeAnythingIsWritten) {
  expect_refused(convoy(small_training("a", {"data.split=100,20,14"})), 78,
                 {"data.split", "100 + 20 + 14 = 134 samples", "at most 133",
                  "80 training and 53 test samples"});
  expect_refused(
      convoy(small_training("a", {"data.split=100,20,13", "data.val_fraction=0.1"})), 78,
      {"data.split", "sizes or fractions, not both"});
  expect_nothing_written();
}

TEST_F(RunOnData, LearnsMoreThan256Classes) {
  const fs::path run = train(
      "many", {"data.synthetic.classes=300", "data.synthetic.train_count=900",
               "data.synthetic.test_count=600", "data.synthetic.noise=0.05", "model=cnn1",
               "optimizer=adam", "optimizer.lr=0.003", "train.epochs=4",
               "data.synthetic.height=16", "data.synthetic.width=16"});
  const json test = read_json(run / "summary.json").at("test");

  EXPECT_EQ(test.at("total"), 600);
  EXPECT_GT(test.at("accuracy"), 0.05) << "by chance it would be 0.0033";
}

TEST_F(RunOnData, TrainsOnFloatsNearlyAsOnBytes) {
  const json bytes = read_json(train("bytes") / "summary.json");
  const json floats =
      read_json(train("floats", {"data.synthetic.dtype=float32"}) / "summary.json");

  EXPECT_NEAR(bytes.at("test").at("loss").get<double>(),
              floats.at("test").at("loss").get<double>(), 1e-4);
}

}  // namespace
}  // namespace convoy
