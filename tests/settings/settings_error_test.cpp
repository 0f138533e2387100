// SPDX-License-Identifier: Apache-2.0
//
// What is said about settings that will not do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;

SettingsContext context() {
  return {.names = {.models = {"lenet5", "cnn1", "mlp6"},
                    .datasets = {"fashion_mnist", "mnist", "synthetic"}},
          .folders = {}};
}

/// What resolving says, or a text that no test expects.
std::string message(const std::vector<std::string>& assignments,
                    const std::vector<fs::path>& files = {},
                    InputKind kind = InputKind::settings) {
  try {
    resolve_settings(assignments, files, context());
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "nothing was refused";
}

/// What is said about a file of this content, without the path of the folder it is in.
std::string message_about_file(const std::string& text) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.yaml";
  write_atomically(path, text);
  std::string said = message({}, {path});
  const std::string prefix = folder.path().string() + "/";
  if (said.starts_with(prefix)) said.erase(0, prefix.size());
  return said;
}

// ---- names

TEST(SettingsError, AnUnknownNameComesWithTheNearest) {
  EXPECT_EQ(message({"train.epohcs=3"}),
            "command line: train.epohcs\n"
            "  found:    an unknown setting\n"
            "  expected: the name of a setting\n"
            "  hint:     nearest name: train.epochs");
}

TEST(SettingsError, ANameWithoutItsGroupComesWithTheGroup) {
  EXPECT_THAT(message({"lr=0.1"}), HasSubstr("nearest name: optimizer.lr"));
}

TEST(SettingsError, AMisspeltGroupComesWithTheNearest) {
  EXPECT_THAT(message({"modle=cnn1"}), HasSubstr("nearest name: model"));
}

TEST(SettingsError, ANameNearToNothingPointsAtTheHelp) {
  EXPECT_THAT(message({"qqqqqqqqqqqq=1"}),
              HasSubstr("convoy train --help lists all settings"));
}

TEST(SettingsError, AGroupOfSettingsHasNoValue) {
  EXPECT_EQ(message({"run=5"}),
            "command line: run\n"
            "  found:    5\n"
            "  expected: one of its settings: run.dir, run.name, "
            "run.tensorboard, run.histograms, run.resources, run.report, run.logbook\n"
            "  hint:     run is a group of settings and has no value");
  EXPECT_THAT(message({"data.synthetic=5"}), HasSubstr("data.synthetic.noise"));
}

TEST(SettingsError, AMissingEqualsSignIsNamed) {
  EXPECT_EQ(message({"train.epochs"}),
            "command line: train.epochs\n"
            "  found:    no '='\n"
            "  expected: setting=value\n"
            "  hint:     write train.epochs=value");
}

TEST(SettingsError, AMissingNameIsNamed) {
  EXPECT_EQ(message({"=5"}),
            "command line: =5\n"
            "  found:    no name before '='\n"
            "  expected: setting=value\n"
            "  hint:     such as train.epochs=6");
}

TEST(SettingsError, AnEmptyArgumentIsNoSetting) {
  EXPECT_THAT(message({""}), HasSubstr("expected: setting=value"));
}

TEST(SettingsError, AnUnknownOptionComesWithTheNearestAndAll) {
  EXPECT_EQ(message({"model=lenet"}),
            "command line: model\n"
            "  found:    lenet\n"
            "  expected: one of lenet5, cnn1, mlp6\n"
            "  hint:     nearest name: lenet5");
  EXPECT_THAT(message({"model.name=lenet"}), HasSubstr("nearest name: lenet5"));
}

TEST(SettingsError, AnUnknownExperimentSaysWhereItWasSearched) {
  SettingsContext searching = context();
  searching.folders = {"/no/such/configs"};
  try {
    resolve_settings({"experiment=x"}, {}, searching);
    FAIL() << "an experiment that is not there was taken";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "command line: experiment\n"
                 "  found:    x\n"
                 "  expected: no experiment: none was found\n"
                 "  hint:     searched: /no/such/configs/experiment");
  }
}

// ---- values

TEST(SettingsError, AValueOutOfRangeComesWithTheRange) {
  EXPECT_EQ(message({"train.epochs=-3"}),
            "command line: train.epochs\n"
            "  found:    -3\n"
            "  expected: a whole number from 1");
}

constexpr const char* kKernelNames =
    "one of auto, avx512, avx2, neon, reference, avx512+bf16, reference+bf16, "
    "avx512+amx, reference+amx";

struct BadValue {
  std::string assignment;
  std::string expected;
};

class SettingsBadValue : public testing::TestWithParam<BadValue> {};

TEST_P(SettingsBadValue, IsRefusedWithWhatWouldDo) {
  const auto& [assignment, expected] = GetParam();
  const std::string said = message({assignment});
  const std::string name = assignment.substr(0, assignment.find('='));

  EXPECT_THAT(said, StartsWith("command line: " + name + "\n"));
  EXPECT_THAT(said, HasSubstr("expected: " + expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, SettingsBadValue,
    testing::Values(
        BadValue{"train.epochs=0", "a whole number from 1"},
        BadValue{"train.epochs=", "a whole number from 1"},
        BadValue{"train.epochs= 3", "a whole number from 1"},
        BadValue{"train.epochs=3 ", "a whole number from 1"},
        BadValue{"train.epochs=three", "a whole number from 1"},
        BadValue{"train.epochs=12abc", "a whole number from 1"},
        BadValue{"train.epochs=1.5", "a whole number from 1"},
        BadValue{"train.epochs=1e3", "a whole number from 1"},
        BadValue{"train.epochs=0x10", "a whole number from 1"},
        BadValue{"train.epochs=true", "a whole number from 1"},
        BadValue{"train.batch_size=-1", "a whole number from 0, or max"},
        BadValue{"train.log_every=0", "a whole number from 1"},
        BadValue{"train.microbatches=-1", "a whole number from 0 to 65535"},
        BadValue{"train.seed=-1", "a whole number from 0"},
        BadValue{"cluster.threads=5000", "a whole number from 0 to 4096"},
        BadValue{"optimizer.lr=nan", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=inf", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=-inf", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=-0.1", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=1e39", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=1e999", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=1e-999", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=0.1x", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=0,1", "a number from 0 to 1e+38"},
        BadValue{"optimizer.lr=", "a number from 0 to 1e+38"},
        BadValue{"optimizer.momentum=1", "a number from 0 to below 1"},
        BadValue{"data.train_fraction=0", "a number above 0 up to 1"},
        BadValue{"data.train_fraction=1.01", "a number above 0 up to 1"},
        BadValue{"data.val_fraction=1", "a number from 0 to below 1"},
        BadValue{"data.val_fraction=-0.1", "a number from 0 to below 1"},
        BadValue{"data.resize=-1", "a whole number from 0 to 4096"},
        BadValue{"data.split=-1,2,3", "a list of numbers"},
        BadValue{"data.synthetic.classes=1000001", "a whole number from 2 to 1000000"},
        BadValue{"data.synthetic.dtype=float16", "one of uint8, float32"},
        BadValue{"data.synthetic.noise=4.1", "a number from 0 to 4"},
        BadValue{"optimizer.nesterov=yes", "true or false"},
        BadValue{"optimizer.nesterov=1", "true or false"},
        BadValue{"optimizer.nesterov=True", "true or false"},
        BadValue{"ddp.bucket_mb=0", "a number above 0 up to 65536"},
        BadValue{"inject.delay=tiny",
                 "none, small, medium, long, or milliseconds up to 60000"},
        BadValue{"inject.delay=-1",
                 "none, small, medium, long, or milliseconds up to 60000"},
        BadValue{"inject.delay_kind=poisson", "one of constant, gaussian"},
        BadValue{"inject.slow_rank=-2", "a whole number from -1 to 65535"},
        BadValue{"inject.slow_factor=0.5", "a number from 1 to 1000"},
        BadValue{"inject.slow_ms=-1", "a number from 0 to 60000"},
        BadValue{"train.target_accuracy=90", "a number from 0 to 1"},
        BadValue{"network.kernels=slow", kKernelNames},
        BadValue{"network.kernels=", kKernelNames},
        BadValue{"network.winograd=on", "one of f4, f2, off"},
        BadValue{"run.name=a\nb", "text in UTF-8 without control characters"},
        BadValue{"data.root=/data/\xff", "text in UTF-8 without control characters"}));

TEST(SettingsError, ANumberTooLargeForItsTypeComesWithTheLargest) {
  EXPECT_EQ(message({"train.epochs=99999999999"}),
            "command line: train.epochs\n"
            "  found:    99999999999\n"
            "  expected: a whole number from 1\n"
            "  hint:     the largest is 2147483647");
  EXPECT_THAT(message({"train.seed=18446744073709551616"}),
              HasSubstr("the largest is 18446744073709551615"));
}

TEST(SettingsError, OddBytesAreShownEscaped) {
  EXPECT_THAT(message({"run.name=\x1b[31m"}), HasSubstr("found:    \\x1b[31m"));
  EXPECT_THAT(message({"data.root=\xff"}), HasSubstr("found:    \\xff"));
}

// ---- values that contradict each other

TEST(SettingsError, NesterovNeedsMomentum) {
  EXPECT_EQ(message({"optimizer.momentum=0", "optimizer.nesterov=true"}),
            "command line: optimizer.nesterov\n"
            "  found:    true with optimizer.momentum=0\n"
            "  expected: false, or optimizer.momentum above 0\n"
            "  hint:     optimizer.momentum=0.9 is usual");
}

TEST(SettingsError, ABatchHasAtLeastOneSampleForEachMicrobatch) {
  EXPECT_EQ(message_about_file("train:\n  batch_size: 4\n  microbatches: 8\n"),
            "run.yaml:3: train.microbatches\n"
            "  found:    8 micro-batches for a batch of 4\n"
            "  expected: no more micro-batches than train.batch_size\n"
            "  hint:     train.microbatches=4 or train.batch_size=8 is possible");
}

TEST(SettingsError, FoldsAreAtLeastTwoAndTheOnlyValidationSet) {
  EXPECT_EQ(message({"data.folds=1"}),
            "command line: data.folds\n"
            "  found:    1\n"
            "  expected: 0 for none, or from 2");
  EXPECT_THAT(message({"data.folds=5", "data.fold=5"}),
              AllOf(StartsWith("command line: data.fold\n"), HasSubstr("fold 5 of 5")));
  EXPECT_THAT(message({"data.folds=5", "data.val_fraction=0.1"}),
              HasSubstr("5 with data.val_fraction"));
  EXPECT_THAT(message({"data.folds=5", "data.split=10,0,10"}),
              HasSubstr("5 with data.split"));
}

TEST(SettingsError, ARunWithoutCheckpointsHasNoneToUploadOrToSaveInBetween) {
  EXPECT_EQ(message({"checkpoint.enabled=false", "checkpoint.every_steps=5"}),
            "command line: checkpoint.enabled\n"
            "  found:    false, though checkpoint.every_steps is set\n"
            "  expected: checkpoints, or no settings that need them\n"
            "  hint:     checkpoint.every_steps=0 is possible");
  EXPECT_THAT(message({"checkpoint.enabled=false", "checkpoint.upload=s3://bucket/a"}),
              HasSubstr("though checkpoint.upload is set"));
}

TEST(SettingsError, MillisecondsOfASlowRankNeedTheRankAndNoFactor) {
  EXPECT_EQ(message({"inject.slow_ms=60"}),
            "command line: inject.slow_ms\n"
            "  found:    60 with inject.slow_rank=-1\n"
            "  expected: the rank that is slow\n"
            "  hint:     inject.slow_rank=0");
  EXPECT_THAT(
      message({"inject.slow_ms=60", "inject.slow_rank=1", "inject.slow_factor=3"}),
      HasSubstr("milliseconds or a factor, not both"));
}

TEST(SettingsError, TheFewestEpochsAreNoMoreThanTheRuns) {
  EXPECT_THAT(message({"train.min_epochs=7"}), HasSubstr("at most 6, the run's epochs"));
}

TEST(SettingsError, ASplitHasThreeSizes) {
  for (const std::string sizes :
       {"45000", "45000,5000", "1,2,3,4", "10.5,5,5", "0,5,5", "5,5,0"}) {
    EXPECT_THAT(message({"data.split=" + sizes}),
                AllOf(StartsWith("command line: data.split\n"),
                      HasSubstr("expected: three whole numbers: training samples"),
                      HasSubstr("data.split=45000,5000,10000, for example")));
  }
}

TEST(SettingsError, ASplitIsInSizesOrInFractions) {
  EXPECT_EQ(message({"data.split=45000,5000,10000", "data.val_fraction=0.1"}),
            "command line: data.split\n"
            "  found:    [45000, 5000, 10000] with data.val_fraction=0.1\n"
            "  expected: sizes or fractions, not both\n"
            "  hint:     leave data.val_fraction out");
  EXPECT_THAT(message({"data.split=45000,5000,10000", "data.train_fraction=0.5"}),
              HasSubstr("hint:     leave data.train_fraction out"));
}

TEST(SettingsError, ARunsNameIsNotAPath) {
  for (const std::string name : {"a/b", "/a", "..", "."}) {
    EXPECT_THAT(message({"run.name=" + name}),
                AllOf(StartsWith("command line: run.name\n  found:    " + name + "\n"),
                      HasSubstr("expected: a folder's name")));
  }
  EXPECT_THAT(message({"run.name=" + std::string(256, 'a')}),
              HasSubstr("up to 255 bytes"));
}

TEST(SettingsError, RunsNeedAFolder) {
  EXPECT_THAT(message({"run.dir="}), HasSubstr("expected: a folder's path"));
}

TEST(SettingsError, ValidateChecksSettingsThatNobodyWrote) {
  Settings settings;
  settings.optimizer.lr = std::numeric_limits<double>::quiet_NaN();
  try {
    validate(settings);
    FAIL() << "a learning rate that is not a number was taken";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "optimizer.lr\n"
                 "  found:    nan\n"
                 "  expected: a number from 0 to 1e+38");
  }
}

// ---- files

TEST(SettingsError, AnUnknownNameInAFileComesWithItsLine) {
  EXPECT_EQ(message_about_file("model: lenet5\ntrain:\n  epohcs: 3\n"),
            "run.yaml:3: train.epohcs\n"
            "  found:    an unknown setting\n"
            "  expected: the name of a setting\n"
            "  hint:     nearest name: train.epochs");
}

TEST(SettingsError, AWrongValueInAFileComesWithItsLine) {
  EXPECT_EQ(message_about_file("# a run\n\ntrain.epochs: many\n"),
            "run.yaml:3: train.epochs\n"
            "  found:    many\n"
            "  expected: a whole number from 1");
}

TEST(SettingsError, BrokenYamlComesWithItsLine) {
  EXPECT_EQ(message_about_file("train:\n  epochs: 3\n seed: 4\n"),
            "run.yaml:3\n"
            "  found:    end of map not found\n"
            "  expected: YAML");
}

struct BadFile {
  std::string text;
  std::string where;
  std::string found;
};

class SettingsBadFile : public testing::TestWithParam<BadFile> {};

TEST_P(SettingsBadFile, IsRefusedWithItsLine) {
  const auto& [text, where, found] = GetParam();

  EXPECT_THAT(message_about_file(text),
              StartsWith(where + "\n  found:    " + found + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    All, SettingsBadFile,
    testing::Values(
        BadFile{"train.epochs: [1, 2]", "run.yaml:1: train.epochs", "a list"},
        BadFile{"train.epochs: {a: 1}", "run.yaml:1: train.epochs", "a map"},
        BadFile{"train.epochs:", "run.yaml:1: train.epochs", "nothing (null)"},
        BadFile{"\ntrain: {epochs: ~}", "run.yaml:2: train.epochs", "nothing (null)"},
        BadFile{"run.name: null", "run.yaml:1: run.name", "nothing (null)"},
        BadFile{"train:", "run.yaml:1: train", "nothing (null)"},
        BadFile{"train: 5", "run.yaml:1: train", "5"},
        BadFile{"train: [epochs]", "run.yaml:1: train", "a list"},
        BadFile{"model: [lenet5]", "run.yaml:1: model", "a list"},
        BadFile{"model:", "run.yaml:1: model", "nothing (null)"},
        BadFile{"experiment: {a: 1}", "run.yaml:1: experiment", "a map"},
        BadFile{"experiment: none", "run.yaml:1: experiment", "none"},
        BadFile{"model: lenet", "run.yaml:1: model", "lenet"},
        BadFile{"model.name.x: 1", "run.yaml:1: model.name.x", "an unknown setting"},
        BadFile{"other: {a: 1}", "run.yaml:1: other", "an unknown setting"},
        BadFile{"train: {'': 1}", "run.yaml:1: train.", "an unknown setting"},
        BadFile{"<<: {a: 1}", "run.yaml:1: <<", "an unknown setting"},
        BadFile{"[a]: 1", "run.yaml:1", "a key that is not a name"},
        BadFile{"train.epochs: 1\ntrain.epochs: 2", "run.yaml:2: train.epochs",
                "a second time, after line 1"},
        BadFile{"train: {seed: 1}\ntrain: {epochs: 2}", "run.yaml:2: train",
                "a second time, after line 1"},
        BadFile{"train.epochs: 1\n\ntrain: {epochs: 2}", "run.yaml:3: train.epochs",
                "a second time, after line 1"},
        BadFile{"model: cnn1\nmodel.name: mlp6", "run.yaml:2: model.name",
                "a second time, after line 1"},
        BadFile{"- a\n- b", "run.yaml:1", "a list"},
        BadFile{"hello", "run.yaml:1", "a single value"},
        BadFile{"train.epochs: 1\n---\ntrain.epochs: 2", "run.yaml:2",
                "more after the end of the YAML document"},
        BadFile{",train.epochs: 1", "run.yaml:1",
                "more after the end of the YAML document"},
        BadFile{"a: 1\nb: \xff", "run.yaml:2", "bytes that are not UTF-8"},
        BadFile{"&a {train: *a}", "run.yaml:1: train.train", "an unknown setting"},
        BadFile{"x: *nobody", "run.yaml:1", "the referenced anchor is not defined"}));

TEST(SettingsError, AFileThatIsNotThereIsAMatterOfStorage) {
  EXPECT_EQ(message({}, {"/no/such/run.yaml"}, InputKind::storage),
            "/no/such/run.yaml\n"
            "  found:    No such file or directory\n"
            "  expected: to read this file");
}

TEST(SettingsError, AFolderIsNoFileOfSettings) {
  EXPECT_THAT(message({}, {fs::temp_directory_path()}, InputKind::storage),
              HasSubstr("Is a directory"));
}

TEST(SettingsError, DeeplyNestedYamlIsRefused) {
  const std::string said = message_about_file("train: " + std::string(100000, '['));

  EXPECT_THAT(said,
              AllOf(StartsWith("run.yaml:"), Not(HasSubstr("nothing was refused"))));
}

}  // namespace
}  // namespace convoy
