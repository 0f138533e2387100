// SPDX-License-Identifier: Apache-2.0
//
// Which setting wins, and how files and options are found.

#include "convoy/settings/settings_resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder of configs, and the context that searches it.
class SettingsResolve : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    make_folders(path.parent_path());
    write_atomically(path, text);
    return path;
  }

  Settings resolve(const std::vector<std::string>& assignments,
                   const std::vector<fs::path>& files = {}) {
    return resolve_settings(assignments, files, context_);
  }

  std::string resolve_message(const std::vector<std::string>& assignments,
                              const std::vector<fs::path>& files = {}) {
    try {
      resolve(assignments, files);
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind(), InputKind::settings);
      return error.what();
    }
    return "nothing was refused";
  }

  TemporaryFolder folder_;
  SettingsContext context_{.names = {.models = {"lenet5", "cnn1", "mlp6"},
                                     .datasets = {"fashion_mnist", "mnist", "synthetic"}},
                           .folders = {folder_.path()}};
};

TEST_F(SettingsResolve, ReadsListsInAllTheirForms) {
  const fs::path file = write("list.yaml",
                              "data.normalize: fixed\n"
                              "data.mean: [0.5, 0.25, 1e-1]\n"
                              "data.std:\n  - 1\n  - 0.5\n  - 0.25\n");
  const Numbers mean = {0.5, 0.25, 0.1}, deviation = {1, 0.5, 0.25};

  EXPECT_EQ(resolve({}, {file}).data.mean, mean);
  EXPECT_EQ(resolve({}, {file}).data.std, deviation);
  for (const std::string text :
       {"0.5,0.25,0.1", "[0.5,0.25,0.1]", "[ 0.5, 0.25, 0.1 ]"}) {
    EXPECT_EQ(resolve({"data.mean=" + text}, {file}).data.mean, mean) << text;
  }
  for (const std::string text : {"", "[]", "[ ]"}) {
    EXPECT_EQ(resolve({"schedule.milestones=" + text}).schedule.milestones, Numbers{});
  }
}

TEST_F(SettingsResolve, ChoosesASchedule) {
  write("schedule/onecycle.yaml", "schedule.max_lr: 1\n");

  const Settings settings = resolve({"schedule.max_momentum=0.9", "schedule=onecycle"});

  EXPECT_EQ(settings.schedule.name, ScheduleChoice::onecycle);
  EXPECT_EQ(settings.schedule.max_lr, 1);
  EXPECT_EQ(settings.schedule.max_momentum, 0.9);
}

TEST_F(SettingsResolve, GivesTheDefaultsWhenNothingIsSet) {
  EXPECT_EQ(resolve({}), Settings{});
}

TEST_F(SettingsResolve, ReadsEveryKindOfValue) {
  const Settings settings =
      resolve({"train.epochs=12", "train.seed=18446744073709551615", "optimizer.lr=1e-3",
               "optimizer.nesterov=true", "run.name=a b=c", "network.kernels=reference",
               "data.synthetic.noise=1", "data.root="});

  EXPECT_EQ(settings.train.epochs, 12);
  EXPECT_EQ(settings.train.seed, 18446744073709551615u);
  EXPECT_EQ(settings.optimizer.lr, 1e-3);
  EXPECT_TRUE(settings.optimizer.nesterov);
  EXPECT_EQ(settings.run.name, "a b=c");
  EXPECT_EQ(settings.network.kernels, KernelsChoice::reference);
  EXPECT_EQ(settings.data.synthetic.noise, 1.0);
  EXPECT_EQ(settings.data.root, "");
}

// ---- old names

TEST_F(SettingsResolve, AnOldNameOfAValueStillMeansIt) {
  EXPECT_EQ(resolve({"network.kernels=fast"}).network.kernels, KernelsChoice::auto_);
}

TEST_F(SettingsResolve, AnOldNameStillSetsItsSettingAndIsNamedOnce) {
  std::vector<std::string> warnings;
  context_.warn = [&](const std::string& text) { warnings.push_back(text); };
  const fs::path file = write("old.yaml",
                              "train:\n  lanes: 2\n"
                              "data: {normalize: fixed, mean: 0.5, deviation: 0.25}\n");

  const Settings settings = resolve({"train.lanes=4"}, {file});

  EXPECT_EQ(settings.train.microbatches, 4);
  EXPECT_EQ(settings.data.std, Numbers{0.25});
  EXPECT_EQ(warnings, (std::vector<std::string>{"train.lanes is now train.microbatches",
                                                "data.deviation is now data.std"}));
}

TEST_F(SettingsResolve, TheConfigOfAnOldRunIsReadWithoutAWarning) {
  std::vector<std::string> warnings;
  context_.warn = [&](const std::string& text) { warnings.push_back(text); };
  context_.run_config = write("config.yaml", "train: {lanes: 2, epochs: 3}\n");
  const fs::path file = write("over_it.yaml", "train.epochs: 4\n");

  const Settings settings = resolve({}, {file});

  EXPECT_EQ(settings.train.microbatches, 2);
  EXPECT_EQ(settings.train.epochs, 4);
  EXPECT_THAT(warnings, testing::IsEmpty());
}

TEST_F(SettingsResolve, AnOldNameAndItsNewOneAreTheSameSettingOfAFile) {
  const fs::path file = write("both.yaml", "train.lanes: 2\ntrain.microbatches: 2\n");

  EXPECT_THAT(message({}, {file}), HasSubstr("a second time, after line 1"));
}

TEST_F(SettingsResolve, AWrongValueIsRefusedUnderTheNameThatWasWritten) {
  EXPECT_THAT(message({"train.lanes=-1"}),
              testing::StartsWith("command line: train.lanes\n  found:    -1\n"));
}

// ---- which one wins

TEST_F(SettingsResolve, LaterSettingsWinOverEarlierOnes) {
  EXPECT_EQ(resolve({"train.epochs=2", "train.epochs=3"}).train.epochs, 3);
}

TEST_F(SettingsResolve, LaterFilesWinOverEarlierOnes) {
  const fs::path first = write("first.yaml", "train: {epochs: 2, seed: 9}");
  const fs::path second = write("second.yaml", "train: {epochs: 3}");

  const Settings settings = resolve({}, {first, second});

  EXPECT_EQ(settings.train.epochs, 3);
  EXPECT_EQ(settings.train.seed, 9u);
}

TEST_F(SettingsResolve, SettingsWinOverFilesAndFilesOverDefaults) {
  const fs::path file = write("run.yaml", "train: {epochs: 2, seed: 9}");

  const Settings settings = resolve({"train.epochs=3"}, {file});

  EXPECT_EQ(settings.train.epochs, 3);
  EXPECT_EQ(settings.train.seed, 9u);
  EXPECT_EQ(settings.train.batch_size, Settings{}.train.batch_size);
}

TEST_F(SettingsResolve, SettingsWinOverChosenFilesWhereverTheyStand) {
  write("experiment/slow.yaml", "optimizer.lr: 0.001");
  write("optimizer/adam.yaml", "optimizer.lr: 0.002");

  EXPECT_EQ(resolve({"optimizer.lr=0.5", "experiment=slow"}).optimizer.lr, 0.5);
  EXPECT_EQ(resolve({"experiment=slow", "optimizer.lr=0.5"}).optimizer.lr, 0.5);
  EXPECT_EQ(resolve({"optimizer.lr=0.5", "optimizer=adam"}).optimizer.lr, 0.5);
}

TEST_F(SettingsResolve, OptionsWinOverExperimentsWhereverTheyStand) {
  write("experiment/small.yaml", "model: cnn1\noptimizer.lr: 0.001");
  write("model/mlp6.yaml", "optimizer.lr: 0.002");

  for (const auto& line : {std::vector<std::string>{"model=mlp6", "experiment=small"},
                           std::vector<std::string>{"experiment=small", "model=mlp6"}}) {
    EXPECT_EQ(resolve(line).model.name, "mlp6");
    EXPECT_EQ(resolve(line).optimizer.lr, 0.002);
  }
}

TEST_F(SettingsResolve, ChosenFilesWinOverConfigFiles) {
  const fs::path file = write("run.yaml", "model: lenet5\noptimizer.lr: 0.5");
  write("experiment/small.yaml", "model: cnn1\noptimizer.lr: 0.001");

  EXPECT_EQ(resolve({"experiment=small"}, {file}).optimizer.lr, 0.001);
  EXPECT_EQ(resolve({"experiment=small"}, {file}).model.name, "cnn1");
}

TEST_F(SettingsResolve, TheLaterOfTwoNamesOfAGroupWins) {
  EXPECT_EQ(resolve({"model.name=cnn1", "model=mlp6"}).model.name, "mlp6");
  EXPECT_EQ(resolve({"model=mlp6", "model.name=cnn1"}).model.name, "cnn1");
}

TEST_F(SettingsResolve, LaterExperimentsWinOverEarlierOnes) {
  write("experiment/a.yaml", "train: {epochs: 2, seed: 2}");
  write("experiment/b.yaml", "train.epochs: 3");

  const Settings settings = resolve({"experiment=a", "experiment=b"});

  EXPECT_EQ(settings.train.epochs, 3);
  EXPECT_EQ(settings.train.seed, 2u);
}

TEST_F(SettingsResolve, AFilesChoicesComeBeforeItsOtherSettings) {
  write("experiment/base.yaml",
        "model: cnn1\ntrain: {epochs: 2, seed: 2, microbatches: 2}");
  write("model/mlp6.yaml", "train: {epochs: 3, seed: 3}");
  const fs::path file =
      write("run.yaml", "train.epochs: 4\nmodel: mlp6\nexperiment: base\n");

  const Settings settings = resolve({}, {file});

  EXPECT_EQ(settings.model.name, "mlp6");
  EXPECT_EQ(settings.train.epochs, 4);
  EXPECT_EQ(settings.train.seed, 3u);
  EXPECT_EQ(settings.train.microbatches, 2);
}

// ---- files and folders

TEST_F(SettingsResolve, MapsAndDotsMeanTheSame) {
  const fs::path file = write("run.yaml",
                              "train.epochs: 2\n"
                              "train: {seed: 3}\n"
                              "data: {synthetic.classes: 4, synthetic: {width: 5}}\n"
                              "data.synthetic: {height: 6}\n");

  const Settings settings = resolve({}, {file});

  EXPECT_EQ(settings.train.epochs, 2);
  EXPECT_EQ(settings.train.seed, 3u);
  EXPECT_EQ(settings.data.synthetic.classes, 4);
  EXPECT_EQ(settings.data.synthetic.width, 5);
  EXPECT_EQ(settings.data.synthetic.height, 6);
}

TEST_F(SettingsResolve, AFileWithoutSettingsChangesNothing) {
  EXPECT_EQ(resolve({}, {write("empty.yaml", "")}), Settings{});
  EXPECT_EQ(resolve({}, {write("comment.yaml", "# nothing yet\n")}), Settings{});
}

TEST_F(SettingsResolve, AnOptionNeedsNoFile) {
  EXPECT_EQ(resolve({"strategy=ddp"}).strategy.name, StrategyChoice::ddp);
}

TEST_F(SettingsResolve, SettingTheNameAloneLaysNoFile) {
  write("model/cnn1.yaml", "train.epochs: 2");

  EXPECT_EQ(resolve({"model.name=cnn1"}).train.epochs, 6);
  EXPECT_EQ(resolve({"model=cnn1"}).train.epochs, 2);
}

TEST_F(SettingsResolve, TheFirstFolderThatHasTheOptionIsUsed) {
  TemporaryFolder second;
  make_folders(second.path() / "experiment");
  write_atomically(second.path() / "experiment/a.yaml", "train: {epochs: 5, seed: 5}");
  write_atomically(second.path() / "experiment/b.yaml", "train.epochs: 7");
  write("experiment/a.yaml", "train.epochs: 2");
  context_.folders = {folder_.path() / "absent", folder_.path(), second.path()};

  EXPECT_EQ(resolve({"experiment=a"}).train.epochs, 2);
  EXPECT_EQ(resolve({"experiment=a"}).train.seed, 1u);
  EXPECT_EQ(resolve({"experiment=b"}).train.epochs, 7);
}

TEST_F(SettingsResolve, RefusesFilesThatChooseEachOtherInACircle) {
  const fs::path a = write("experiment/a.yaml", "experiment: b");
  const fs::path b = write("experiment/b.yaml", "train.epochs: 2\nexperiment: a");

  EXPECT_EQ(resolve_message({"experiment=a"}),
            b.string() + ":2: experiment\n  found:    a circle: " + a.string() + " -> " +
                b.string() + " -> " + a.string() +
                "\n  expected: files that do not choose each other in a circle");
}

TEST_F(SettingsResolve, RefusesAnOptionsFileThatChoosesTheOptionAgain) {
  write("model/cnn1.yaml", "model: cnn1");

  EXPECT_THAT(resolve_message({"model=cnn1"}), HasSubstr("a circle"));
}

TEST_F(SettingsResolve, TwoFilesMayChooseTheSameThird) {
  write("experiment/base.yaml", "train.epochs: 2");
  write("model/cnn1.yaml", "experiment: base");
  write("data/mnist.yaml", "experiment: base");

  EXPECT_EQ(resolve({"model=cnn1", "data=mnist"}).train.epochs, 2);
}

TEST_F(SettingsResolve, AnExperimentCannotLeadOutOfItsFolder) {
  write("secret.yaml", "train.epochs: 2");
  write("experiment/a.yaml", "train.epochs: 2");

  EXPECT_THAT(resolve_message({"experiment=../secret"}), HasSubstr("expected: one of a"));
}

TEST(ConfigFolders, BeginWithTheOneOfTheEnvironment) {
  TemporaryFolder folder;
  ::setenv("CONVOY_CONFIGS", folder.path().c_str(), 1);
  const std::vector<fs::path> folders = config_folders();
  ::unsetenv("CONVOY_CONFIGS");

  ASSERT_EQ(folders.size(), 3u);
  EXPECT_EQ(folders[0], folder.path());
  EXPECT_EQ(folders[1], "configs");
  EXPECT_EQ(folders[2],
            fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "configs");
  EXPECT_EQ(config_folders().size(), 2u);
}

TEST(ConfigFolders, RefuseAnEnvironmentThatNamesNoFolder) {
  ::setenv("CONVOY_CONFIGS", "/no/such/folder", 1);
  EXPECT_THROW(config_folders(), InputError);
  ::unsetenv("CONVOY_CONFIGS");
}

}  // namespace
}  // namespace convoy
