// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "convoy/base/lane_tree.h"
#include "tests/network/event_recorder.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

constexpr PassKey kKey = {.seed = 5, .step = 2, .lane = 10};

struct LaneTrial {
  LaneTrial(float dropout, std::size_t samples)
      : model(odd_model(dropout)),
        layout(build_layout(model)),
        values(made_up_values(layout)),
        gradients(layout),
        batch(model, samples),
        network(model, layout, {}, team) {}

  LossSum run(std::size_t lanes, PassListener& listener) {
    Lanes all(network, layout, all_lanes(lanes), team);
    running = &all;
    const LossSum loss = all.run(batch.samples(), values, kKey, listener);
    std::ranges::copy(all.gradients().whole().numbers(), gradients.data());
    return loss;
  }

  /// Lane `lane` alone, by the network.
  std::vector<float> run_alone(std::size_t lanes, std::size_t lane) {
    PassKey key = kKey;
    key.lane += static_cast<std::uint32_t>(lane);
    FlatBuffer alone(layout);
    network.forward(batch.samples().part(even_part(batch.labels.size(), lanes, lane)),
                    values, key, nobody);
    network.backward(1.0f / static_cast<float>(batch.labels.size()), values, alone,
                     nobody);
    return {alone.data(), alone.data() + alone.size()};
  }

  /// The documented sum over lanes [first, last) of `lanes`.
  std::vector<float> tree_sum(std::size_t lanes, std::size_t first, std::size_t last) {
    if (last - first == 1) return run_alone(lanes, first);
    const std::size_t middle = first + std::bit_floor(last - first - 1);
    const std::vector<float> left = tree_sum(lanes, first, middle);
    std::vector<float> sum = tree_sum(lanes, middle, last);
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
  Lanes* running = nullptr;  // during run()
};

class LanesOf : public testing::TestWithParam<std::size_t> {};

TEST_P(LanesOf, AddUpToTheGradientOfTheWholeBatch) {
  LaneTrial whole(/*dropout=*/0, 33), cut(/*dropout=*/0, 33);

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

TEST_P(LanesOf, AreAddedAlongTheDocumentedTreeBitForBit) {
  LaneTrial trial(/*dropout=*/0.3f, 33);

  trial.run(GetParam(), trial.nobody);
  const std::vector<float> found(trial.gradients.data(),
                                 trial.gradients.data() + trial.gradients.size());

  EXPECT_EQ(found, trial.tree_sum(GetParam(), 0, GetParam()));
}

TEST_P(LanesOf, TellGradientsInTheLastLaneOnlyAndInOrder) {
  LaneTrial trial(/*dropout=*/0.3f, 33);
  EventRecorder recorder;

  trial.run(GetParam(), recorder);

  std::vector<std::string> expected;
  for (std::size_t lane = 0; lane < GetParam(); ++lane) {
    const bool last = lane + 1 == GetParam();
    for (const std::string& event : pass_events(trial.layout, last)) {
      expected.push_back(event);
    }
  }
  EXPECT_EQ(recorder.events, expected);
}

/// Keeps each gradient as it was when it was ready.
class Keeper : public PassListener {
 public:
  explicit Keeper(LaneTrial& trial) : kept(trial.layout), trial_(trial) {}

  void gradient_ready(SegmentId segment) override {
    const Range range = trial_.layout.segment(segment).range;
    std::ranges::copy(trial_.running->gradients().whole().view(range),
                      kept.view(range).begin());
  }

  FlatBuffer kept;

 private:
  LaneTrial& trial_;
};

TEST_P(LanesOf, TellAGradientWhenItIsTheWholeSum) {
  LaneTrial trial(/*dropout=*/0.3f, 33);
  Keeper keeper(trial);

  trial.run(GetParam(), keeper);

  EXPECT_EQ(weights_sha256(trial.layout, keeper.kept),
            weights_sha256(trial.layout, trial.gradients));
}

TEST_P(LanesOf, MayBeEmptyForASmallBatch) {
  LaneTrial trial(/*dropout=*/0.3f, 2);

  const LossSum loss = trial.run(GetParam(), trial.nobody);
  const std::vector<float> found(trial.gradients.data(),
                                 trial.gradients.data() + trial.gradients.size());

  EXPECT_EQ(loss.samples, 2u);
  EXPECT_EQ(found, trial.tree_sum(GetParam(), 0, GetParam()));
}

TEST_P(LanesOf, LeavePaddingZeroStepAfterStep) {
  LaneTrial trial(/*dropout=*/0.3f, 9);
  Lanes lanes(trial.network, trial.layout, all_lanes(GetParam()), trial.team);

  for (int step = 0; step < 2; ++step) {
    lanes.run(trial.batch.samples(), trial.values, kKey, trial.nobody);
  }

  const std::vector<bool> padding = padding_of(trial.layout);
  for (std::size_t i = 0; i < padding.size(); ++i) {
    ASSERT_TRUE(!padding[i] || lanes.gradients().whole().data()[i] == 0)
        << "element " << i;
  }
}

TEST_P(LanesOf, OverwriteWhatTheStepBeforeLeft) {
  LaneTrial trial(/*dropout=*/0.3f, 9);
  Lanes lanes(trial.network, trial.layout, all_lanes(GetParam()), trial.team);

  std::string digests[2];
  for (std::string& digest : digests) {
    lanes.run(trial.batch.samples(), trial.values, kKey, trial.nobody);
    digest = weights_sha256(trial.layout, lanes.gradients().whole());
  }

  EXPECT_EQ(digests[0], digests[1]);
}

/// Adds partial sums, which are known by where their lanes end, along the tree.
std::vector<float> sum_of_parts(Range lanes,
                                const std::map<std::size_t, const float*>& found,
                                std::size_t size) {
  const auto first = found.upper_bound(lanes.begin);
  if (first->first == lanes.end) return {first->second, first->second + size};
  const std::size_t middle = tree_split(lanes);
  const std::vector<float> left = sum_of_parts({lanes.begin, middle}, found, size);
  std::vector<float> sum = sum_of_parts({middle, lanes.end}, found, size);
  std::ranges::transform(left, sum, sum.begin(), std::plus<>());
  return sum;
}

/// Wherever the lanes are cut in two, the parts' sums add up to the bits of the whole.
TEST_P(LanesOf, InTwoPartsAddUpToTheBitsOfTheWhole) {
  constexpr std::size_t kSamples = 33;
  const std::size_t lanes = GetParam();
  LaneTrial trial(/*dropout=*/0.3f, kSamples);
  const LossSum whole = trial.run(lanes, trial.nobody);
  const std::vector<float> expected(trial.gradients.data(),
                                    trial.gradients.data() + trial.gradients.size());

  for (std::size_t cut = 1; cut < lanes; ++cut) {
    LossSum loss;
    std::vector<std::unique_ptr<Lanes>> parts;
    std::map<std::size_t, const float*> found;  // by the end of their lanes
    for (const Range own : {Range{0, cut}, Range{cut, lanes}}) {
      const LanePart part = {lanes, own};
      parts.push_back(
          std::make_unique<Lanes>(trial.network, trial.layout, part, trial.team));
      parts.back()->run({trial.batch.samples().part(part.samples(kSamples)), kSamples},
                        trial.values, kKey, trial.nobody);
      for (const LossSum& lane : parts.back()->losses()) loss += lane;
      const std::vector<Range> subtrees = whole_subtrees(lanes, own);
      const std::vector<const float*> starts =
          parts.back()->gradients().starts({0, trial.layout.size()});
      ASSERT_EQ(starts.size(), subtrees.size());
      for (std::size_t i = 0; i < starts.size(); ++i) found[subtrees[i].end] = starts[i];
    }

    EXPECT_EQ(sum_of_parts({0, lanes}, found, trial.layout.size()), expected) << cut;
    EXPECT_EQ(loss.loss, whole.loss) << cut;
    EXPECT_EQ(loss.correct, whole.correct) << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, LanesOf, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12));

TEST(Lanes, NeedNoMoreThanALogarithmOfBuffers) {
  LaneTrial trial(/*dropout=*/0, 1);
  const std::size_t buffer = trial.layout.size() * sizeof(float);

  const auto bytes = [&](const LanePart& part) {
    return Lanes(trial.network, trial.layout, part, trial.team).gradient_bytes();
  };

  EXPECT_EQ(bytes(all_lanes(1)), buffer);
  EXPECT_EQ(bytes(all_lanes(2)), 2 * buffer);
  EXPECT_LE(bytes(all_lanes(64)), 13 * buffer);
  EXPECT_EQ(bytes({.lanes = 64, .own = {5, 6}}), buffer);
  EXPECT_LE(bytes({.lanes = 64, .own = {1, 63}}), 20 * buffer);
}

TEST(Lanes, HaveAsManySamplesAsTheLongest) {
  EXPECT_EQ(Lanes::most_samples(64, 4), 16u);
  EXPECT_EQ(Lanes::most_samples(65, 4), 17u);
  EXPECT_EQ(Lanes::most_samples(3, 4), 1u);
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

TEST(RunningStatistics, FollowTheMeanOfWhatTheLanesFound) {
  constexpr std::size_t kLanes = 3, kSamples = 20;
  const Model model = {"norm", {4, 1, 1}, {BatchNorm{"norm"}, Linear{"fc", 2}}};
  const Layout layout = build_layout(model), running = build_statistics_layout(model);
  const FlatBuffer values = made_up_values(layout);
  FlatBuffer statistics(running);
  initialize_statistics(running, statistics);
  ThreadTeam team(2);
  Network network(model, layout, {}, team);
  Lanes lanes(network, layout, all_lanes(kLanes), team);
  PassListener nobody;
  const MadeUpBatch batch(model, kSamples);

  lanes.run(batch.samples(), values, kKey, nobody);
  lanes.follow_statistics(kSamples, statistics);

  for (std::size_t feature = 0; feature < 4; ++feature) {
    double mean = 0, variance = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto found = moments(batch, even_part(kSamples, kLanes, lane), 4, feature);
      mean += found.first / kLanes;
      variance += found.second / kLanes;
    }
    EXPECT_NEAR(statistics.data()[feature], 0.1 * mean, 1e-6);
    EXPECT_NEAR(statistics.data()[4 + feature], 0.9 + 0.1 * variance, 1e-6);
  }
}

TEST(RunningStatistics, LeaveOutLanesWithoutSamples) {
  const Model model = {
      "norm", {4, 2, 2}, {BatchNorm{"norm"}, Flatten{}, Linear{"fc", 2}}};
  const Layout layout = build_layout(model), running = build_statistics_layout(model);
  const FlatBuffer values = made_up_values(layout);
  FlatBuffer of_two(running), of_five(running);
  initialize_statistics(running, of_two);
  initialize_statistics(running, of_five);
  ThreadTeam team(1);
  Network network(model, layout, {}, team);
  Lanes two(network, layout, all_lanes(2), team),
      five(network, layout, all_lanes(5), team);
  PassListener nobody;
  const MadeUpBatch batch(model, 2);

  two.run(batch.samples(), values, kKey, nobody);
  two.follow_statistics(2, of_two);
  five.run(batch.samples(), values, kKey, nobody);
  five.follow_statistics(2, of_five);

  EXPECT_EQ(weights_sha256(running, of_five), weights_sha256(running, of_two));
}

}  // namespace
}  // namespace convoy
