// SPDX-License-Identifier: Apache-2.0
//
// Command lines and settings that are refused before anything starts.

#include <sys/stat.h>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class BadUsage : public ProgramTest {
 protected:
  void expect_usage_error(const Arguments& arguments, const std::string& part) const {
    const CommandResult result = convoy(arguments);
    EXPECT_EQ(result.code, 2) << result.out << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_THAT(result.err, HasSubstr("--help"));
    expect_nothing_written();
  }

  void expect_bad_setting(const Arguments& settings,
                          std::initializer_list<std::string> parts) const {
    expect_refused(convoy(small_training("a", settings)), 78, parts);
    expect_nothing_written();
  }
};

TEST_F(BadUsage, WithoutACommandIsRefused) {
  expect_usage_error({}, "subcommand is required");
}

TEST_F(BadUsage, OfAnUnknownCommandNamesTheNearest) {
  expect_usage_error({"trian"}, "unknown command trian; nearest: train");
}

TEST_F(BadUsage, OfAnUnknownFlagNamesIt) {
  expect_usage_error({"train", "--fast"}, "--fast");
}

TEST_F(BadUsage, WithoutWhatACommandNeedsIsRefused) {
  expect_usage_error({"eval"}, "target");
  expect_usage_error({"data"}, "subcommand is required");
  expect_usage_error({"data", "get"}, "name");
  expect_usage_error({"bench"}, "subcommand is required");
  expect_usage_error({"models", "--classes", "0"}, "--classes");
}

TEST_F(BadUsage, OfAnUnknownSettingNamesTheNearest) {
  expect_bad_setting({"train.epoch=3"},
                     {"command line: train.epoch\n", "nearest name: train.epochs"});
}

TEST_F(BadUsage, OfAValueOutOfRangeSaysTheRange) {
  expect_bad_setting({"train.epochs=0"},
                     {"command line: train.epochs\n", "found:    0\n", "from 1"});
  expect_bad_setting({"optimizer.momentum=1.5"}, {"optimizer.momentum", "below 1"});
  expect_bad_setting({"train.batch_size=many"}, {"train.batch_size", "many"});
}

TEST_F(BadUsage, OfMoreMicrobatchesThanSamplesIsRefused) {
  expect_bad_setting({"train.microbatches=33"}, {"train.microbatches", "hint:"});
}

/// Before any of them is started: the launcher says nothing of ranks.
TEST_F(BadUsage, OfMoreRanksThanTheBatchCanHaveIsRefusedAtOnce) {
  expect_bad_setting({"-n", "64", "train.microbatches=3"},
                     {"train.microbatches", "3 micro-batches for 64 ranks"});
  expect_bad_setting({"-n", "4096"}, {"train.batch_size", "32 samples in 4096"});
  expect_bad_setting({"-n", "2", "strategy=single"}, {"strategy.name", "2 ranks"});
  expect_bad_setting({"-n", "64", "strategy=ps_sync"}, {"train.batch_size"});
}

TEST_F(BadUsage, OfABatchLargerThanTheDataSaysHowMuchThereIs) {
  expect_bad_setting({"train.batch_size=81"},
                     {"train.batch_size", "81", "at most 80", "hint:"});
}

TEST_F(BadUsage, OfAnUnknownModelNamesTheNearest) {
  expect_bad_setting({"model=lenet6"},
                     {"command line: model", "lenet6", "nearest name: lenet5"});
}

TEST_F(BadUsage, OfAnUnknownDatasetNamesTheNearest) {
  expect_bad_setting({"data=fashion_mnits"}, {"nearest name: fashion_mnist"});
}

TEST_F(BadUsage, OfImagesTooSmallForTheModelNamesTheLayer) {
  expect_bad_setting({"data.synthetic.height=3"}, {"conv2", "at least 5 x 5"});
}

TEST_F(BadUsage, OfAConfigFileNamesItsLine) {
  const TemporaryFolder elsewhere;
  const std::string file = (elsewhere.path() / "run.yaml").string();
  write_atomically(file, "train:\n  epochs: 2\n  batchsize: 3\n");

  expect_bad_setting({"--config", file}, {file + ":3: train.batchsize"});
}

TEST_F(BadUsage, OfAMissingConfigFileIsRefused) {
  expect_refused(convoy({"train", "--config", "none.yaml"}), 74, {"none.yaml"});
  expect_nothing_written();
}

TEST_F(BadUsage, OfAConfigFileThatIsAFifoIsNotWaitedFor) {
  const TemporaryFolder elsewhere;
  const std::string fifo = (elsewhere.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);

  expect_refused(convoy({"train", "--config", fifo}), 74, {fifo, "a FIFO"});
}

TEST_F(BadUsage, OfASettingAfterAConfigFileIsNoFile) {
  const TemporaryFolder elsewhere;
  const std::string file = (elsewhere.path() / "run.yaml").string();
  write_atomically(file, "model: cnn1\ndata: synthetic\n");

  const CommandResult result =
      convoy({"train", "--config", file, "train.epochs=3", "--dry-run"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("epochs: 3"));
  EXPECT_THAT(result.out, HasSubstr("name: cnn1"));
}

}  // namespace
}  // namespace convoy
