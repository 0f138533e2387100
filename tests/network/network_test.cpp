// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/models/models.h"
#include "tests/network/event_recorder.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

using testing::IsNan;

/// A model with its layout, first values, a batch and a network for it.
struct Trial {
  explicit Trial(Model of, std::size_t samples = 17, NetworkOptions options = {})
      : model(std::move(of)),
        layout(build_layout(model)),
        values(made_up_values(layout)),
        gradients(layout),
        batch(model, samples),
        network(model, layout, options, team) {}

  LossSum forward(PassListener& listener, const RngKey& key = {}) {
    return network.forward(batch.samples(), values, key, listener);
  }
  void backward(PassListener& listener, float scale = 1) {
    network.backward(scale, values, gradients, listener);
  }
  std::vector<float> logits() {
    const auto classes = static_cast<std::size_t>(class_count(model));
    std::vector<float> result;
    for (std::size_t i = 0; i < batch.labels.size() * classes; ++i) {
      result.push_back(network.logit(i / classes, i % classes));
    }
    return result;
  }

  Model model;
  Layout layout;
  FlatBuffer values, gradients;
  MadeUpBatch batch;
  ThreadTeam team{2};
  Network network;
  PassListener nobody;
};

class NetworkOf : public testing::TestWithParam<std::string> {};

// As a micro-batch is when the last batch has fewer samples than there are micro-batches.
TEST_P(NetworkOf, GivesNoGradientWithoutSamples) {
  Trial trial(small_model(GetParam()), 0);
  std::ranges::fill(std::span(trial.gradients.data(), trial.gradients.size()), 99.0f);

  const LossSum loss = trial.forward(trial.nobody);
  trial.backward(trial.nobody);

  EXPECT_EQ(loss.samples, 0u);
  EXPECT_EQ(std::ranges::count(trial.gradients.numbers(), 0.0f),
            std::ssize(trial.gradients.numbers()));
}

TEST_P(NetworkOf, TellsUnitsInOrderForwardAndBackward) {
  Trial trial(small_model(GetParam()), 3);
  EventRecorder recorder;

  trial.forward(recorder);
  trial.backward(recorder);

  EXPECT_EQ(in_layout_order(recorder.events),
            pass_events(trial.layout, /*with_gradients=*/true));
}

/// Keeps each gradient as it was when it was ready, and spoils the value.
class Spoiler : public PassListener {
 public:
  explicit Spoiler(Trial& trial) : early(trial.layout), trial_(trial) {}

  void gradient_ready(SegmentId segment) override {
    const Range range = trial_.layout.segment(segment).range;
    std::ranges::copy(trial_.gradients.view(range), early.view(range).begin());
    std::ranges::fill(trial_.values.view(range), kNan);
  }

  FlatBuffer early;

 private:
  Trial& trial_;
};

TEST_P(NetworkOf, IsDoneWithASegmentOnceItsGradientIsReady) {
  Trial trial(small_model(GetParam()), 3);
  trial.forward(trial.nobody);
  trial.backward(trial.nobody);
  const std::string undisturbed = weights_sha256(trial.layout, trial.gradients);

  Spoiler spoiler(trial);
  trial.forward(spoiler);
  trial.backward(spoiler);

  EXPECT_EQ(weights_sha256(trial.layout, spoiler.early), undisturbed);
  EXPECT_EQ(weights_sha256(trial.layout, trial.gradients), undisturbed);
}

TEST_P(NetworkOf, LeavesPaddingOfGradientsZero) {
  Trial trial(small_model(GetParam()), 3);

  trial.forward(trial.nobody);
  trial.backward(trial.nobody);

  for (const std::size_t i : padding_of(trial.layout)) {
    ASSERT_EQ(trial.gradients.data()[i], 0) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NetworkOf, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

TEST(Network, PutsLayersWithoutParametersIntoTheUnitBefore) {
  Trial trial(Model{"x",
                    {1, 4, 4},
                    {Relu{}, MaxPool{2, 1}, Linear{"a", 4}, Dropout{0.5f}, Relu{},
                     Linear{"b", 2}, Relu{}, Relu{}}});
  EventRecorder recorder;

  trial.forward(recorder);
  trial.backward(recorder);

  EXPECT_EQ(recorder.events, pass_events(trial.layout, /*with_gradients=*/true));
}

TEST(Network, DoesNotLetSamplesOfABatchMeet) {
  Trial together(odd_model(/*dropout=*/0), 33), alone(odd_model(/*dropout=*/0), 33);

  together.forward(together.nobody);
  const std::vector<float> logits = together.logits();

  for (std::size_t n = 0; n < 33; ++n) {
    alone.network.forward(alone.batch.samples().part({n, n + 1}), alone.values, {},
                          alone.nobody);
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(alone.network.logit(0, c), logits[n * 3 + c]) << "sample " << n;
    }
  }
}

TEST(Network, ForgetsTheBatchBefore) {
  Trial fresh(odd_model(), 5), used(odd_model(), 5);
  const MadeUpBatch larger(used.model, 64, /*label=*/1);

  used.network.forward(larger.samples(), used.values, {}, used.nobody);
  used.backward(used.nobody);
  for (Trial* trial : {&fresh, &used}) {
    trial->forward(trial->nobody);
    trial->backward(trial->nobody);
  }

  EXPECT_EQ(weights_sha256(used.layout, used.gradients),
            weights_sha256(fresh.layout, fresh.gradients));
}

TEST(Network, TakesNoSamplesForNoGradient) {
  Trial trial(odd_model(), 0);
  for (const Segment& segment : trial.layout.segments()) {
    std::ranges::fill(trial.gradients.view(segment.range), 99.0f);
  }

  const LossSum loss = trial.forward(trial.nobody);
  trial.backward(trial.nobody);

  EXPECT_EQ(loss.samples, 0u);
  EXPECT_EQ(loss.mean_loss(), 0);
  for (const Segment& segment : trial.layout.segments()) {
    EXPECT_THAT(trial.gradients.view(segment.range), testing::Each(0.0f));
  }
}

TEST(Network, PredictsTheLargestLogitAndTheFirstOfEquals) {
  Trial trial(Model{"x", {1, 1, 3}, {Relu{}}}, 3);
  const std::vector<float> images = {0, 1, 2, 5, 5, 1, 3, 4, 4};
  const std::vector<std::int32_t> labels = {2, 1, 1};

  const LossSum loss =
      trial.network.forward({images, labels}, trial.values, {}, trial.nobody);

  EXPECT_THAT(trial.network.predictions(), testing::ElementsAre(2, 0, 1));
  EXPECT_EQ(loss.correct, 2u);
  EXPECT_DOUBLE_EQ(loss.accuracy(), 2.0 / 3);
}

TEST(Network, HasAFiniteLossForLargeLogits) {
  Trial trial(Model{"x", {1, 1, 2}, {Relu{}}}, 1);
  const std::vector<float> images = {1000, 0};
  const std::vector<std::int32_t> labels = {1};

  const LossSum loss =
      trial.network.forward({images, labels}, trial.values, {}, trial.nobody);

  EXPECT_DOUBLE_EQ(loss.loss, 1000);
}

TEST(Network, ShowsNotANumberInItsLoss) {
  for (const Model& model : {odd_model(), make_model("lenet5", {1, 28, 28}, 10)}) {
    Trial trial(model, 3);
    trial.values.data()[0] = kNan;

    EXPECT_THAT(trial.forward(trial.nobody).loss, IsNan()) << model.name;
  }
}

TEST(Network, NeedsLessMemoryWithoutTraining) {
  const Trial training(make_model("lenet5", {1, 28, 28}, 10), 1);
  const Trial evaluating(make_model("lenet5", {1, 28, 28}, 10), 1, {.training = false});

  EXPECT_LT(evaluating.network.arena_bytes(), training.network.arena_bytes());
}

TEST(Network, WithoutTrainingGivesTheSameLogitsWhereNothingIsDropped) {
  Trial training(odd_model(/*dropout=*/0)),
      evaluating(odd_model(), 17, {.training = false});

  training.forward(training.nobody);
  evaluating.forward(evaluating.nobody);

  EXPECT_EQ(training.logits(), evaluating.logits());
}

/// Wide layers after a layer norm and after GELUs.
Model model_with_cheap_layers() {
  Model model("wide", {8, 1, 1});
  model.add(Linear{"first", 600});
  for (const char* name : {"second", "third", "fourth"}) {
    model.add(LayerNorm{std::string(name) + ".norm"});
    model.add(Gelu{});
    model.add(Linear{name, 600});
  }
  model.add(Linear{"last", 10});
  return model;
}

TEST(Network, ComputesCheapResultsAgainInsteadOfKeepingThem) {
  Trial kept(model_with_cheap_layers(), 170,
             {.most_samples = 170, .recompute_cheap = false});
  Trial again(model_with_cheap_layers(), 170, {.most_samples = 170});
  for (Trial* trial : {&kept, &again}) {
    trial->forward(trial->nobody);
    trial->backward(trial->nobody);
  }

  EXPECT_LT(again.network.arena_bytes(), kept.network.arena_bytes() * 9 / 10);
  EXPECT_TRUE(std::ranges::equal(again.gradients.numbers(), kept.gradients.numbers()));
}

/// Units of several layers, all of the same size.
Model model_with_blocks() {
  Model model("blocks", {8, 6, 6});
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    model.begin_block();
    for (const char* layer : {".0", ".1", ".2"}) {
      model.add(Convolution{.name = std::string(name) + layer, .channels = 8});
      model.add(Gelu{});
    }
    model.end_block();
  }
  model.add(Linear{"last", 10});
  return model;
}

TEST(Network, KeepsOnlyWhatOtherUnitsReadIfUnitsAreRecomputed) {
  Trial kept(model_with_blocks(), 70, {.most_samples = 70});
  Trial half(model_with_blocks(), 70, {.most_samples = 70, .recompute_units = 3});
  Trial again(model_with_blocks(), 70,
              {.most_samples = 70, .recompute_units = kAllUnits});
  EventRecorder recorder;
  for (Trial* trial : {&kept, &half, &again}) {
    recorder.events.clear();
    trial->forward(recorder);
    trial->backward(recorder);
    EXPECT_EQ(in_layout_order(recorder.events),
              pass_events(trial->layout, /*with_gradients=*/true));
  }

  EXPECT_LT(again.network.arena_bytes(), kept.network.arena_bytes() * 6 / 10);
  EXPECT_LT(half.network.arena_bytes(), kept.network.arena_bytes());
  EXPECT_GT(half.network.arena_bytes(), again.network.arena_bytes());
  EXPECT_TRUE(std::ranges::equal(again.gradients.numbers(), kept.gradients.numbers()));
  EXPECT_TRUE(std::ranges::equal(half.gradients.numbers(), kept.gradients.numbers()));
}

TEST(NetworkDeathTest, RefusesMoreSamplesThanPlanned) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Trial trial(odd_model(), 5, {.most_samples = 4});

  EXPECT_DEATH(trial.forward(trial.nobody), "a batch fits the plan");
}

TEST(NetworkDeathTest, RefusesBackwardWithoutTraining) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Trial trial(odd_model(), 5, {.training = false});
  trial.forward(trial.nobody);

  EXPECT_DEATH(trial.backward(trial.nobody), "planned for training");
}

// Dropout, seen as logits: every source element is 1.

constexpr int kFeatures = 1000;

struct DropoutTrial : Trial {
  explicit DropoutTrial(float probability, std::size_t samples = 17)
      : Trial(Model{"x", {kFeatures, 1, 1}, {Dropout{probability}}}, samples) {
    std::ranges::fill(batch.images, 1.0f);
  }

  std::vector<float> dropped(const RngKey& key) {
    forward(nobody, key);
    return logits();
  }
};

TEST(Dropout, ZeroesItsShareAndScalesTheOthers) {
  for (const float probability : {0.0f, 0.1f, 0.25f, 0.5f, 0.9f}) {
    DropoutTrial trial(probability);

    const std::vector<float> logits = trial.dropped({.seed = 1});

    const double zeros = static_cast<double>(std::ranges::count(logits, 0.0f));
    const auto count = static_cast<double>(logits.size());
    const double deviation = std::sqrt(probability * (1 - probability) / count);
    EXPECT_NEAR(zeros / count, probability, 4 * deviation + 1e-9) << probability;
    for (const float logit : logits) {
      ASSERT_TRUE(logit == 0 || logit == 1 / (1 - probability)) << logit;
    }
  }
}

TEST(Dropout, DropsOthersForEverySampleStepLaneAndSeed) {
  DropoutTrial trial(0.5f, 17);
  const RngKey key = {.seed = 1, .step = 2, .microbatch = 3};
  const std::vector<float> logits = trial.dropped(key);

  EXPECT_EQ(trial.dropped(key), logits);
  EXPECT_NE(trial.dropped({.seed = 2, .step = 2, .microbatch = 3}), logits);
  EXPECT_NE(trial.dropped({.seed = 1, .step = 3, .microbatch = 3}), logits);
  EXPECT_NE(trial.dropped({.seed = 1, .step = 2, .microbatch = 4}), logits);
  const auto sample = [&](std::size_t n) {
    return std::vector<float>(logits.begin() + static_cast<long>(n) * kFeatures,
                              logits.begin() + static_cast<long>(n + 1) * kFeatures);
  };
  for (std::size_t n = 1; n < 17; ++n) EXPECT_NE(sample(n), sample(0)) << "sample " << n;
}

TEST(Dropout, DiffersFromLayerToLayer) {
  DropoutTrial one(0.5f);
  Trial two(Model{"x", {kFeatures, 1, 1}, {Dropout{0.5f}, Dropout{0.5f}}});
  std::ranges::fill(two.batch.images, 1.0f);

  const std::vector<float> once = one.dropped({.seed = 1});
  two.forward(two.nobody, {.seed = 1});
  const std::vector<float> twice = two.logits();

  // With the same mask twice nothing that is kept once would be lost.
  const double kept = static_cast<double>(kFeatures) * 17;
  EXPECT_NEAR(static_cast<double>(std::ranges::count(once, 0.0f)) / kept, 0.5, 0.02);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(twice, 0.0f)) / kept, 0.75, 0.02);
}

/// What planning a network says of a model that it refuses.
std::string refusal_of(const Model& model) {
  const Layout layout = build_layout(model);
  ThreadTeam team(1);
  try {
    const Network network(model, layout, {.most_samples = 1}, team);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkPlan, RefusesSeveralRowsOfLogits) {
  EXPECT_EQ(refusal_of(Model("tokens", {7, 1, 1, 5}, {Linear{"fc", 2}})),
            "model: tokens\n  found:    5 rows per sample at the end\n"
            "  expected: one row of logits\n  hint:     take_row and row_mean leave one");
}

TEST(NetworkPlan, RefusesALayerThatNoneReads) {
  Model model("x", {7, 1, 1}, {Linear{"unread", 2}});
  model.add(Linear{"fc", 2}, {kModelInput});

  EXPECT_EQ(refusal_of(model),
            "model: unread\n  found:    a result that no layer reads\n"
            "  expected: one reader or more for every layer but the last");
}

TEST(NetworkPlan, RefusesAPassThatMemoryCannotHold) {
  const Model model = make_model("lenet5", {1, 28, 28}, 10);
  const Layout layout = build_layout(model);
  ThreadTeam team(1);

  try {
    Network network(model, layout, {.most_samples = std::size_t{1} << 40}, team);
    FAIL() << "a pass over 2^40 images was planned";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    EXPECT_THAT(error.what(), testing::HasSubstr("1,099,511,627,776 samples"));
  }
}

}  // namespace
}  // namespace convoy
