// SPDX-License-Identifier: Apache-2.0
//
// What a recipe adds to plain training reaches the run: schedule, augmentation,
// normalisation, smoothing, averaging, and the choice of what decays.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/setup/workload.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/base/expect_error.h"
#include "tests/train/recorded_run.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

using nlohmann::json;

/// Ten steps over images of three channels.
Settings recipe_settings() {
  Settings settings = small_settings(150, 31, 32, /*threads=*/2);
  settings.data.synthetic.channels = 3;
  settings.optimizer.weight_decay = 0.01;
  return settings;
}

class Recipe : public RecordedRun {
 protected:
  CheckpointState saved_by_recipe(const std::string& name) const {
    return load_state(find_checkpoint(here.path() / name));
  }

  Recipe() { settings = recipe_settings(); }
};

struct Ingredient {
  const char* name;
  std::function<void(Settings&)> add;
};

class RecipeWith : public Recipe, public testing::WithParamInterface<Ingredient> {};

TEST_P(RecipeWith, ChangesTheRunAndRepeatsOnAnyNumberOfThreads) {
  const json plain = train_and_sum_up("plain");
  GetParam().add(settings);
  const json two = train_and_sum_up("two");
  settings.cluster.threads = 1;
  const json one = train_and_sum_up("one");

  EXPECT_NE(plain.at("weights_sha256"), two.at("weights_sha256"));
  EXPECT_EQ(one.at("weights_sha256"), two.at("weights_sha256"));
  EXPECT_EQ(one.at("train"), two.at("train"));
  EXPECT_EQ(one.at("test"), two.at("test"));
}

INSTANTIATE_TEST_SUITE_P(
    Ingredients, RecipeWith,
    testing::Values(
        Ingredient{"CropFlip",
                   [](Settings& s) { s.train.augment = AugmentChoice::crop_flip; }},
        Ingredient{"Alternate",
                   [](Settings& s) { s.train.augment = AugmentChoice::crop_alternate; }},
        Ingredient{"Smoothing", [](Settings& s) { s.train.label_smoothing = 0.1; }},
        Ingredient{"Average", [](Settings& s) { s.train.ema = 0.9; }},
        Ingredient{"EqualAverage", [](Settings& s) { s.train.swa_start = 1; }},
        Ingredient{"Adam", [](Settings& s) { s.optimizer.name = OptimizerChoice::adam; }},
        Ingredient{"AdamW",
                   [](Settings& s) { s.optimizer.name = OptimizerChoice::adamw; }},
        Ingredient{"Clipping", [](Settings& s) { s.optimizer.clip_norm = 0.1; }},
        Ingredient{"Exponential",
                   [](Settings& s) { s.schedule.name = ScheduleChoice::exponential; }},
        Ingredient{"Linear",
                   [](Settings& s) { s.schedule.name = ScheduleChoice::linear; }},
        Ingredient{"Whitening", [](Settings& s) { s.train.whiten = true; }},
        Ingredient{"Channels",
                   [](Settings& s) { s.data.normalize = NormalizeChoice::channel; }},
        Ingredient{"OneCycle",
                   [](Settings& s) { s.schedule.name = ScheduleChoice::onecycle; }},
        Ingredient{"Cosine",
                   [](Settings& s) { s.schedule.name = ScheduleChoice::cosine; }},
        Ingredient{"WeightsDecay",
                   [](Settings& s) { s.optimizer.decay_norm_and_bias = false; }},
        Ingredient{"FastBiases", [](Settings& s) { s.optimizer.bias_lr_scale = 4; }}),
    [](const auto& info) { return info.param.name; });

TEST_F(Recipe, EvaluatesTheViewsItIsToldTo) {
  const json plain = train_and_sum_up("plain");
  settings.eval.shift = 1;
  const json moved = train_and_sum_up("moved");
  settings.eval.flip = true;
  const json all = train_and_sum_up("all");

  for (const json& views : {moved, all}) {
    EXPECT_EQ(views.at("weights_sha256"), plain.at("weights_sha256"));
    EXPECT_NE(views.at("test").at("loss"), plain.at("test").at("loss"));
  }
  EXPECT_NE(moved.at("test").at("loss"), all.at("test").at("loss"));
}

TEST_F(Recipe, EvaluatesTheEpochsItIsToldToAndTheLast) {
  settings.train.epochs = 5;
  const json always = train_and_sum_up("always");
  settings.eval.every_epochs = 2;
  const json sometimes = train_and_sum_up("sometimes");

  EXPECT_THAT(recorded("always", "eval", "epoch"), testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(recorded("sometimes", "eval", "epoch"), testing::ElementsAre(2, 4, 5));
  EXPECT_EQ(sometimes.at("weights_sha256"), always.at("weights_sha256"));
  EXPECT_EQ(sometimes.at("test"), always.at("test"));
}

TEST_F(Recipe, EvaluatesTheEpochThatTheLastStepIsIn) {
  settings.eval.every_epochs = 9;
  settings.train.max_steps = 7;

  EXPECT_TRUE(train_and_sum_up("a").contains("test"));
  EXPECT_THAT(recorded("a", "eval", "epoch"), testing::ElementsAre(2));
}

TEST_F(Recipe, RecordsTheRateOfEachStep) {
  settings.schedule.name = ScheduleChoice::step;
  settings.schedule.step_epochs = 1;
  settings.schedule.gamma = 0.5;
  settings.schedule.warmup_epochs = 0.4;
  settings.optimizer.lr = 0.5;

  train_and_sum_up("a");

  EXPECT_THAT(of_steps("a", "lr"), testing::ElementsAre(0.25, 0.5, 0.5, 0.5, 0.5, 0.25,
                                                        0.25, 0.25, 0.25, 0.25));
}

TEST_F(Recipe, SchedulesTheStepsThatWillBeMade) {
  settings.schedule.name = ScheduleChoice::onecycle;
  settings.schedule.max_lr = 1;
  settings.train.max_steps = 7;

  train_and_sum_up("a");

  const std::vector<double> rates = of_steps("a", "lr");
  ASSERT_EQ(rates.size(), 7u);
  EXPECT_NEAR(rates.front(), 0.04, 1e-12);
  EXPECT_NEAR(rates.back(), 4e-6, 1e-12);
}

TEST_F(Recipe, AveragesBesideTheTrainingAndSavesTheAverage) {
  const json plain = train_and_sum_up("plain");
  settings.train.ema = 0.9;
  const json averaged = train_and_sum_up("averaged");

  EXPECT_EQ(of_steps("plain", "loss"), of_steps("averaged", "loss"));
  EXPECT_NE(plain.at("test"), averaged.at("test"));
  Trainer trainer(settings, comm);
  FlatBuffer values(trainer.work().layout);
  load_checkpoint(find_checkpoint(here.path() / "averaged"),
                  {{trainer.work().layout, values}});
  EXPECT_EQ(weights_sha256(trainer.work().layout, values),
            averaged.at("weights_sha256").get<std::string>());
}

TEST_F(Recipe, AveragesTheValuesAfterEachEpochEqually) {
  std::vector<std::vector<float>> after;
  for (const int epochs : {2, 3, 4}) {
    settings.train.epochs = epochs;
    Trainer trainer(settings, comm);
    trainer.train(nullptr, nullptr, stop, "");
    const std::span<const float> values = trainer.values().numbers();
    after.emplace_back(values.begin(), values.end());
  }
  settings.train.swa_start = 2;
  Trainer trainer(settings, comm);
  trainer.train(nullptr, nullptr, stop, "");

  EXPECT_EQ(trainer.policy_state().averaged, 3u);
  for (std::size_t i = 0; i < trainer.values().size(); ++i) {
    double sum = 0;
    for (const std::vector<float>& values : after) sum += values[i];
    ASSERT_NEAR(trainer.values().data()[i], sum / 3, 1e-6) << "value " << i;
  }
}

TEST_F(Recipe, AveragesWholeEpochsOnly) {
  settings.train.swa_start = 1;
  settings.train.max_steps = 3;
  Trainer trainer(settings, comm);
  trainer.train(nullptr, nullptr, stop, "");
  EXPECT_EQ(trainer.policy_state().averaged, 0u);
}

TEST_F(Recipe, TakesBeta1ForTheMomentumOfAdam) {
  settings.optimizer.name = OptimizerChoice::adam;
  const json plain = train_and_sum_up("plain");
  settings.optimizer.momentum = 0.1;
  EXPECT_EQ(train_and_sum_up("momentum").at("weights_sha256"),
            plain.at("weights_sha256"));
  settings.optimizer.beta1 = 0.8;
  EXPECT_NE(train_and_sum_up("beta1").at("weights_sha256"), plain.at("weights_sha256"));
}

TEST_F(Recipe, RecordsTheNormOfClippedGradients) {
  train_and_sum_up("plain");
  EXPECT_THROW(of_steps("plain", "grad_norm"), json::out_of_range);
  settings.optimizer.clip_norm = 1e9;
  const json clipped = train_and_sum_up("clipped");

  EXPECT_THAT(of_steps("clipped", "grad_norm"), testing::Each(testing::Gt(0.01)));
  EXPECT_EQ(of_steps("clipped", "loss"), of_steps("plain", "loss"));
}

TEST_F(Recipe, EndsEarlyWhenNothingGetsBetter) {
  settings.optimizer.lr = 0;
  settings.train.epochs = 9;
  settings.train.patience = 2;
  const json summary = train_and_sum_up("a");

  EXPECT_EQ(summary.at("epochs"), 3);
  EXPECT_EQ(summary.at("exit").at("code"), 0);
  EXPECT_THAT(summary.at("exit").at("reason").get<std::string>(),
              testing::MatchesRegex("no better test accuracy in 2 evaluations "
                                    "\\(best 0\\.[0-9]+ in epoch 1\\)"));
  EXPECT_FALSE(summary.at("test").is_null());
}

TEST_F(Recipe, JudgesOnTheValidationSetIfThereIsOne) {
  settings.optimizer.lr = 0;
  settings.data.val_fraction = 0.2;
  settings.checkpoint.best_metric = BestMetric::loss;
  settings.train.epochs = 9;
  settings.train.patience = 1;
  const json summary = train_and_sum_up("a");

  EXPECT_EQ(summary.at("epochs"), 2);
  EXPECT_THAT(summary.at("exit").at("reason").get<std::string>(),
              testing::StartsWith("no better val loss in 1 evaluation (best"));
}

TEST_F(Recipe, LowersTheRateOnAPlateau) {
  settings.train.epochs = 3;
  settings.schedule.name = ScheduleChoice::plateau;
  settings.schedule.patience = 0;
  settings.schedule.gamma = 0.5;
  settings.schedule.threshold = 0.999;  // nothing is so much better
  settings.checkpoint.best_metric = BestMetric::loss;
  settings.optimizer.lr = 0.25;
  train_and_sum_up("a");

  const std::vector<double> rates = of_steps("a", "lr");
  ASSERT_EQ(rates.size(), 15u);
  EXPECT_EQ(rates[4], 0.25);
  EXPECT_EQ(rates[5], 0.25);
  EXPECT_EQ(rates[10], 0.125);
}

TEST_F(Recipe, GoesOnFromACourseThatWasSet) {
  settings.train.epochs = 9;
  settings.train.patience = 3;
  settings.optimizer.lr = 0;
  Trainer trainer(settings, comm);
  trainer.set_policy_state(
      {.plateau = {},
       .early_stop = {.best = 1, .best_epoch = 4, .without_better = 2},
       .averaged = 0});
  const Outcome outcome = trainer.train(nullptr, nullptr, stop, "");
  EXPECT_EQ(outcome.reason,
            "no better test accuracy in 3 evaluations (best 1.000 in epoch 4)");
  EXPECT_EQ(trainer.policy_state().early_stop.without_better, 3);
}

TEST_F(Recipe, PlansTheMemoryOfWhatTheOptimizerRemembers) {
  settings.model.name = "mlp6";
  const std::string sgd = Trainer(settings, comm).plan();
  settings.optimizer.name = OptimizerChoice::adam;
  const std::string adam = Trainer(settings, comm).plan();
  EXPECT_NE(sgd.substr(sgd.find("optimizer")), adam.substr(adam.find("optimizer")));
}

TEST_F(Recipe, LeavesWhiteningFiltersAsTheyAre) {
  settings.train.whiten = true;
  settings.train.max_steps = 1;
  const Trainer untrained(settings, comm);
  train_and_sum_up("a");

  const Layout& layout = untrained.work().layout;
  FlatBuffer trained(layout);
  load_checkpoint(find_checkpoint(here.path() / "a"), {{layout, trained}});

  for (const Segment& segment : layout.segments()) {
    const bool is_first = segment.range.begin == 0;
    EXPECT_EQ(is_first, std::ranges::equal(trained.view(segment.range),
                                           untrained.values().view(segment.range)))
        << segment.name;
  }
}

TEST_F(Recipe, EvaluatesWithoutSmoothing) {
  settings.optimizer.lr = 0;
  const json plain = train_and_sum_up("plain");
  settings.train.label_smoothing = 0.5;
  const json smoothed = train_and_sum_up("smoothed");

  EXPECT_EQ(plain.at("test"), smoothed.at("test"));
  EXPECT_NE(plain.at("train"), smoothed.at("train"));
}

TEST_F(Recipe, SavesTheNormalizationThatWasGiven) {
  settings.data.normalize = NormalizeChoice::fixed;
  settings.data.mean = {0.25, 0.5, 0.75};
  settings.data.std = {1, 0.5, 0.25};

  train_and_sum_up("a");

  const Normalization expected = {.moments = {{0.25, 1}, {0.5, 0.5}, {0.75, 0.25}}};
  EXPECT_EQ(saved_by_recipe("a").normalization, expected);
}

TEST_F(Recipe, TakesOneGivenMeanForAllChannels) {
  settings.data.normalize = NormalizeChoice::fixed;
  settings.data.mean = {0};
  settings.data.std = {1};

  EXPECT_EQ(Trainer(settings, comm).work().normalization, Normalization{});
}

TEST_F(Recipe, RefusesMeansForAnotherNumberOfChannels) {
  settings.data.normalize = NormalizeChoice::fixed;
  settings.data.mean = settings.data.std = {0.5, 0.5};

  expect_error(InputKind::settings,
               {"data.mean and data.std", "2 numbers",
                "1 number, or 3, the channels of synthetic"},
               [&] { Trainer trainer(settings, comm); });
}

TEST_F(Recipe, PlansTheScheduleAndTheAverage) {
  settings.schedule.name = ScheduleChoice::onecycle;
  settings.schedule.max_lr = 1;

  EXPECT_THAT(Trainer(settings, comm).plan(),
              testing::HasSubstr("onecycle, learning rate 0.04 at first, 4e-06 at last"));
}

}  // namespace
}  // namespace convoy
