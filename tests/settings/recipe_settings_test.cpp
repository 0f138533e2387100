// SPDX-License-Identifier: Apache-2.0
//
// What is said about wrong lists, normalisations and schedules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using testing::HasSubstr;

std::string recipe_message(const std::vector<std::string>& assignments,
                           const std::vector<std::filesystem::path>& files = {}) {
  try {
    resolve_settings(assignments, files, {});
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    return error.what();
  }
  return "nothing was refused";
}

// ---- lists

TEST(RecipeSettings, AListOfOtherThanNumbersIsRefused) {
  for (const std::string text :
       {"a", "0.1,", ",0.1", "0.1,,0.2", "[0.1", "0.1]", "[0.1 0.2]", "[[0.1]]"}) {
    EXPECT_THAT(recipe_message({"data.mean=" + text}),
                HasSubstr("a list of numbers from 0 to 1"))
        << text;
  }
}

TEST(RecipeSettings, ANumberOfAListOutOfRangeIsRefused) {
  EXPECT_EQ(recipe_message({"data.std=[0.5,63]"}),
            "command line: data.std\n"
            "  found:    [0.5,63]\n"
            "  expected: a list of numbers above 0 up to 1");
}

TEST(RecipeSettings, AListInAListIsRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "run.yaml";
  write_atomically(path, "data.mean: [[0.1], 0.2]\n");

  EXPECT_EQ(recipe_message({}, {path}), path.string() +
                                            ":1: data.mean\n"
                                            "  found:    a list\n"
                                            "  expected: a list of numbers from 0 to 1");
}

TEST(RecipeSettings, MeansWithoutFixedNormalisationAreRefused) {
  EXPECT_EQ(recipe_message({"data.mean=0.5"}),
            "command line: data.mean\n"
            "  found:    numbers with data.normalize=all\n"
            "  expected: no numbers, or data.normalize=fixed");
}

TEST(RecipeSettings, FixedNormalisationWithoutItsNumbersIsRefused) {
  EXPECT_EQ(recipe_message({"data.normalize=fixed"}),
            "command line: data.normalize\n"
            "  found:    fixed with 0 means and 0 stds\n"
            "  expected: data.mean and data.std with one number each for all "
            "channels, or one for each");
  EXPECT_THAT(recipe_message({"data.normalize=fixed", "data.mean=0.5,0.5", "data.std=1"}),
              HasSubstr("fixed with 2 means and 1 stds"));
}

// ---- schedules

TEST(RecipeSettings, AWarmUpBeforeOneCycleIsRefused) {
  EXPECT_EQ(recipe_message({"schedule=onecycle", "schedule.warmup_epochs=2"}),
            "command line: schedule.warmup_epochs\n"
            "  found:    2\n"
            "  expected: 0 with schedule=onecycle, whose warm-up is schedule.pct_start");
}

TEST(RecipeSettings, AWarmUpLongerThanTheRunIsRefused) {
  EXPECT_THAT(recipe_message({"train.epochs=2", "schedule.warmup_epochs=3"}),
              HasSubstr("at most 2, the run's epochs"));
}

TEST(RecipeSettings, ACosineThatRisesIsRefused) {
  EXPECT_THAT(
      recipe_message({"schedule=cosine", "optimizer.lr=0.1", "schedule.min_lr=0.2"}),
      HasSubstr("at most 0.1, the learning rate"));
}

TEST(RecipeSettings, APlateauThatDoesNotLowerTheRateIsRefused) {
  EXPECT_EQ(recipe_message({"schedule=plateau", "schedule.gamma=1"}),
            "command line: schedule.gamma\n"
            "  found:    1\n"
            "  expected: below 1 with schedule=plateau");
  EXPECT_THAT(
      recipe_message({"schedule=plateau", "optimizer.lr=0.1", "schedule.min_lr=0.2"}),
      HasSubstr("at most 0.1, the learning rate"));
}

// ---- optimizers and averages

TEST(RecipeSettings, NesterovsMomentumIsForSgdAlone) {
  EXPECT_EQ(recipe_message({"optimizer=adam", "optimizer.nesterov=true"}),
            "command line: optimizer.nesterov\n"
            "  found:    true with optimizer=adam\n"
            "  expected: false, or optimizer=sgd");
}

TEST(RecipeSettings, TwoKindsOfAveragesAreRefused) {
  EXPECT_EQ(recipe_message({"train.ema=0.9", "train.swa_start=2"}),
            "command line: train.swa_start\n"
            "  found:    2 with train.ema=0.9\n"
            "  expected: one kind of average\n"
            "  hint:     train.ema=0 or train.swa_start=0");
}

TEST(RecipeSettings, AnAverageThatNeverBeginsIsRefused) {
  EXPECT_THAT(recipe_message({"train.epochs=3", "train.swa_start=4"}),
              HasSubstr("at most 3, the run's epochs"));
}

TEST(RecipeSettings, AnUnknownScheduleComesWithTheNearest) {
  EXPECT_THAT(recipe_message({"schedule=onecycel"}), HasSubstr("nearest name: onecycle"));
}

}  // namespace
}  // namespace convoy
