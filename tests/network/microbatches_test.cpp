// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/microbatches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "convoy/params/reduction_tree.h"
#include "tests/network/event_recorder.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

constexpr RngKey kBatchKey = {.seed = 5, .step = 2, .microbatch = 10};

struct MicrobatchTrial {
  MicrobatchTrial(float dropout, std::size_t samples)
      : model(odd_model(dropout)),
        layout(build_layout(model)),
        values(made_up_values(layout)),
        gradients(layout),
        batch(model, samples),
        network(model, layout, {}, team) {}

  LossSum run(std::size_t microbatches, PassListener& listener) {
    Microbatches all(network, layout, all_microbatches(microbatches), team);
    running = &all;
    const LossSum loss = all.run(batch.samples(), values, kBatchKey, listener);
    std::ranges::copy(all.gradients().whole().numbers(), gradients.data());
    return loss;
  }

  /// Microbatch `microbatch` alone, by the network.
  std::vector<float> run_alone(std::size_t microbatches, std::size_t microbatch) {
    RngKey key = kBatchKey;
    key.microbatch += static_cast<std::uint32_t>(microbatch);
    FlatBuffer alone(layout);
    network.forward(
        batch.samples().part(even_part(batch.labels.size(), microbatches, microbatch)),
        values, key, nobody);
    network.backward(1.0f / static_cast<float>(batch.labels.size()), values, alone,
                     nobody);
    return {alone.data(), alone.data() + alone.size()};
  }

  /// The documented sum over micro-batches [first, last) of `microbatches`.
  std::vector<float> tree_sum(std::size_t microbatches, std::size_t first,
                              std::size_t last) {
    if (last - first == 1) return run_alone(microbatches, first);
    const std::size_t middle = first + std::bit_floor(last - first - 1);
    const std::vector<float> left = tree_sum(microbatches, first, middle);
    std::vector<float> sum = tree_sum(microbatches, middle, last);
    std::ranges::transform(left, sum, sum.begin(), std::plus<>());
    return sum;
  }

  Model model;
  Layout layout;
  FlatBuffer values, gradients;
  MadeUpBatch batch;
  ThreadTeam team{2};
  Network network;
  PassListener nobody;
  Microbatches* running = nullptr;  // during run()
};

class MicrobatchesOf : public testing::TestWithParam<std::size_t> {};

TEST_P(MicrobatchesOf, AddUpToTheGradientOfTheWholeBatch) {
  MicrobatchTrial whole(/*dropout=*/0, 33), cut(/*dropout=*/0, 33);

  const LossSum of_whole = whole.run(1, whole.nobody);
  const LossSum of_cut = cut.run(GetParam(), cut.nobody);

  EXPECT_EQ(of_cut.samples, 33u);
  EXPECT_EQ(of_cut.correct, of_whole.correct);
  EXPECT_NEAR(of_cut.loss, of_whole.loss, 1e-12 * of_whole.loss);
  for (const Segment& segment : whole.layout.segments()) {
    for (std::size_t i = segment.range.begin; i < segment.range.end; ++i) {
      const float expected = whole.gradients.data()[i];
      ASSERT_NEAR(cut.gradients.data()[i], expected, 1e-6 + 1e-5 * std::abs(expected))
          << segment.name;
    }
  }
}

TEST_P(MicrobatchesOf, AreAddedAlongTheDocumentedTreeBitForBit) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 33);

  trial.run(GetParam(), trial.nobody);
  const std::vector<float> found(trial.gradients.data(),
                                 trial.gradients.data() + trial.gradients.size());

  EXPECT_EQ(found, trial.tree_sum(GetParam(), 0, GetParam()));
}

TEST_P(MicrobatchesOf, TellGradientsInTheLastMicrobatchOnlyAndInOrder) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 33);
  EventRecorder recorder;

  trial.run(GetParam(), recorder);

  std::vector<std::string> expected;
  for (std::size_t microbatch = 0; microbatch < GetParam(); ++microbatch) {
    const bool last = microbatch + 1 == GetParam();
    for (const std::string& event : pass_events(trial.layout, last)) {
      expected.push_back(event);
    }
  }
  EXPECT_EQ(recorder.events, expected);
}

TEST_P(MicrobatchesOf, TellWhichMicrobatchTheEventsBelongTo) {
  MicrobatchTrial trial(/*dropout=*/0.0f, 33);
  EventRecorder recorder;

  trial.run(GetParam(), recorder);

  std::vector<MicrobatchPass> expected;
  for (std::size_t microbatch = 0; microbatch < GetParam(); ++microbatch) {
    expected.push_back({microbatch, microbatch + 1 == GetParam()});
  }
  EXPECT_EQ(recorder.passes, expected);
}

/// Keeps each gradient as it was when it was ready.
class Keeper : public PassListener {
 public:
  explicit Keeper(MicrobatchTrial& trial) : kept(trial.layout), trial_(trial) {}

  void gradient_ready(SegmentId segment) override {
    const Range range = trial_.layout.segment(segment).range;
    std::ranges::copy(trial_.running->gradients().whole().view(range),
                      kept.view(range).begin());
  }

  FlatBuffer kept;

 private:
  MicrobatchTrial& trial_;
};

TEST_P(MicrobatchesOf, TellAGradientWhenItIsTheWholeSum) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 33);
  Keeper keeper(trial);

  trial.run(GetParam(), keeper);

  EXPECT_EQ(weights_sha256(trial.layout, keeper.kept),
            weights_sha256(trial.layout, trial.gradients));
}

TEST_P(MicrobatchesOf, MayBeEmptyForASmallBatch) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 2);

  const LossSum loss = trial.run(GetParam(), trial.nobody);
  const std::vector<float> found(trial.gradients.data(),
                                 trial.gradients.data() + trial.gradients.size());

  EXPECT_EQ(loss.samples, 2u);
  EXPECT_EQ(found, trial.tree_sum(GetParam(), 0, GetParam()));
}

TEST_P(MicrobatchesOf, LeavePaddingZeroStepAfterStep) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 9);
  Microbatches microbatches(trial.network, trial.layout, all_microbatches(GetParam()),
                            trial.team);

  for (int step = 0; step < 2; ++step) {
    microbatches.run(trial.batch.samples(), trial.values, kBatchKey, trial.nobody);
  }

  for (const std::size_t i : padding_of(trial.layout)) {
    ASSERT_EQ(microbatches.gradients().whole().data()[i], 0) << "element " << i;
  }
}

TEST_P(MicrobatchesOf, OverwriteWhatTheStepBeforeLeft) {
  MicrobatchTrial trial(/*dropout=*/0.3f, 9);
  Microbatches microbatches(trial.network, trial.layout, all_microbatches(GetParam()),
                            trial.team);

  std::string digests[2];
  for (std::string& digest : digests) {
    microbatches.run(trial.batch.samples(), trial.values, kBatchKey, trial.nobody);
    digest = weights_sha256(trial.layout, microbatches.gradients().whole());
  }

  EXPECT_EQ(digests[0], digests[1]);
}

/// Adds partial sums, which are known by where their micro-batches end, along the tree.
std::vector<float> sum_of_parts(Range microbatches,
                                const std::map<std::size_t, const float*>& found,
                                std::size_t size) {
  const auto first = found.upper_bound(microbatches.begin);
  if (first->first == microbatches.end) return {first->second, first->second + size};
  const std::size_t middle = tree_split(microbatches);
  const std::vector<float> left = sum_of_parts({microbatches.begin, middle}, found, size);
  std::vector<float> sum = sum_of_parts({middle, microbatches.end}, found, size);
  std::ranges::transform(left, sum, sum.begin(), std::plus<>());
  return sum;
}

/// Wherever the micro-batches are cut in two, the parts' sums add up to the bits of the
/// whole.
TEST_P(MicrobatchesOf, InTwoPartsAddUpToTheBitsOfTheWhole) {
  constexpr std::size_t kSamples = 33;
  const std::size_t microbatches = GetParam();
  MicrobatchTrial trial(/*dropout=*/0.3f, kSamples);
  const LossSum whole = trial.run(microbatches, trial.nobody);
  const std::vector<float> expected(trial.gradients.data(),
                                    trial.gradients.data() + trial.gradients.size());

  for (std::size_t cut = 1; cut < microbatches; ++cut) {
    LossSum loss;
    std::vector<std::unique_ptr<Microbatches>> parts;
    std::map<std::size_t, const float*> found;  // by the end of their micro-batches
    for (const Range own : {Range{0, cut}, Range{cut, microbatches}}) {
      const MicrobatchPart part = {microbatches, own};
      const Range samples = {part.samples_of(own.begin, kSamples).begin,
                             part.samples_of(own.end - 1, kSamples).end};
      parts.push_back(
          std::make_unique<Microbatches>(trial.network, trial.layout, part, trial.team));
      parts.back()->run({trial.batch.samples().part(samples), kSamples}, trial.values,
                        kBatchKey, trial.nobody);
      for (const LossSum& microbatch : parts.back()->losses()) loss += microbatch;
      const std::vector<Range> subtrees = whole_subtrees(microbatches, own);
      const std::vector<const float*> starts =
          parts.back()->gradients().starts({0, trial.layout.size()});
      ASSERT_EQ(starts.size(), subtrees.size());
      for (std::size_t i = 0; i < starts.size(); ++i) found[subtrees[i].end] = starts[i];
    }

    EXPECT_EQ(sum_of_parts({0, microbatches}, found, trial.layout.size()), expected)
        << cut;
    EXPECT_EQ(loss.loss, whole.loss) << cut;
    EXPECT_EQ(loss.correct, whole.correct) << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, MicrobatchesOf,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12));

TEST(Microbatches, NeedNoMoreThanALogarithmOfBuffers) {
  MicrobatchTrial trial(/*dropout=*/0, 1);
  const std::size_t buffer = trial.layout.size() * sizeof(float);

  const auto bytes = [&](const MicrobatchPart& part) {
    return Microbatches(trial.network, trial.layout, part, trial.team).gradient_bytes();
  };

  EXPECT_EQ(bytes(all_microbatches(1)), buffer);
  EXPECT_EQ(bytes(all_microbatches(2)), 2 * buffer);
  EXPECT_LE(bytes(all_microbatches(64)), 13 * buffer);
  EXPECT_EQ(bytes({.microbatches = 64, .own = {5, 6}}), buffer);
  EXPECT_LE(bytes({.microbatches = 64, .own = {1, 63}}), 20 * buffer);
}

TEST(Microbatches, HaveAsManySamplesAsTheLongest) {
  EXPECT_EQ(Microbatches::most_samples(64, 4), 16u);
  EXPECT_EQ(Microbatches::most_samples(65, 4), 17u);
  EXPECT_EQ(Microbatches::most_samples(3, 4), 1u);
}

/// Mean and unbiased variance of feature `feature` over samples [range).
std::pair<double, double> moments(const MadeUpBatch& batch, Range range,
                                  std::size_t features, std::size_t feature) {
  double sum = 0, squares = 0;
  for (std::size_t n = range.begin; n < range.end; ++n) {
    sum += batch.images[n * features + feature];
  }
  const double mean = sum / static_cast<double>(range.size());
  for (std::size_t n = range.begin; n < range.end; ++n) {
    const double distance = batch.images[n * features + feature] - mean;
    squares += distance * distance;
  }
  return {mean, squares / static_cast<double>(range.size() - 1)};
}

TEST(RunningStatistics, FollowTheMeanOfWhatTheMicrobatchesFound) {
  constexpr std::size_t kMicrobatches = 3, kSamples = 20;
  const Model model = {"norm", {4, 1, 1}, {BatchNorm{"norm"}, Linear{"fc", 2}}};
  const Layout layout = build_layout(model), running = build_statistics_layout(model);
  const FlatBuffer values = made_up_values(layout);
  FlatBuffer statistics(running);
  initialize(running, /*seed=*/1, statistics);
  ThreadTeam team(2);
  Network network(model, layout, {}, team);
  Microbatches microbatches(network, layout, all_microbatches(kMicrobatches), team);
  PassListener nobody;
  const MadeUpBatch batch(model, kSamples);

  microbatches.run(batch.samples(), values, kBatchKey, nobody);
  microbatches.update_running_stats(kSamples, statistics);

  for (std::size_t feature = 0; feature < 4; ++feature) {
    double mean = 0, variance = 0;
    for (std::size_t microbatch = 0; microbatch < kMicrobatches; ++microbatch) {
      const auto found =
          moments(batch, even_part(kSamples, kMicrobatches, microbatch), 4, feature);
      mean += found.first / kMicrobatches;
      variance += found.second / kMicrobatches;
    }
    EXPECT_NEAR(statistics.data()[feature], 0.1 * mean, 1e-6);
    EXPECT_NEAR(statistics.data()[4 + feature], 0.9 + 0.1 * variance, 1e-6);
  }
}

TEST(RunningStatistics, LeaveOutMicrobatchesWithoutSamples) {
  const Model model = {
      "norm", {4, 2, 2}, {BatchNorm{"norm"}, Flatten{}, Linear{"fc", 2}}};
  const Layout layout = build_layout(model), running = build_statistics_layout(model);
  const FlatBuffer values = made_up_values(layout);
  FlatBuffer of_two(running), of_five(running);
  initialize(running, /*seed=*/1, of_two);
  initialize(running, /*seed=*/1, of_five);
  ThreadTeam team(1);
  Network network(model, layout, {}, team);
  Microbatches two(network, layout, all_microbatches(2), team),
      five(network, layout, all_microbatches(5), team);
  PassListener nobody;
  const MadeUpBatch batch(model, 2);

  two.run(batch.samples(), values, kBatchKey, nobody);
  two.update_running_stats(2, of_two);
  five.run(batch.samples(), values, kBatchKey, nobody);
  five.update_running_stats(2, of_five);

  EXPECT_EQ(weights_sha256(running, of_five), weights_sha256(running, of_two));
}

}  // namespace
}  // namespace convoy
