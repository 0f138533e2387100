// SPDX-License-Identifier: Apache-2.0
//
// Frozen parameters: no gradient, and nothing computed for them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convoy/network/microbatches.h"
#include "tests/network/event_recorder.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

constexpr float kNotWritten = 99;

/// A network of which some segments are frozen, after a pass.
struct FrozenTrial {
  FrozenTrial(const Model& of, const std::vector<SegmentId>& frozen)
      : model(of), layout(build_layout(model)), statistics_layout(freeze(frozen)) {
    initialize(layout, /*seed=*/1, values);
    initialize(statistics_layout, /*seed=*/1, statistics);
    std::fill_n(gradients.data(), gradients.size(), kNotWritten);
  }

  Layout freeze(const std::vector<SegmentId>& frozen) {
    layout.freeze(frozen);
    return build_statistics_layout(model, layout);
  }

  void run() {
    loss = forward(network);
    network.backward(1, values, gradients, recorder);
  }
  double forward(Network& by) {
    return by.forward(batch.samples(), values, {}, recorder).loss;
  }

  Model model;
  Layout layout, statistics_layout;
  FlatBuffer values{layout}, gradients{layout}, statistics{statistics_layout};
  MadeUpBatch batch{model, 17};
  ThreadTeam team{2};
  Network network{model, layout, {.statistics = &statistics}, team};
  EventRecorder recorder;
  double loss = 0;
};

std::vector<SegmentId> every_second(const Model& model) {
  std::vector<SegmentId> segments;
  for (std::size_t i = 0; i < build_layout(model).segments().size(); i += 2) {
    segments.push_back(SegmentId{i});
  }
  return segments;
}

/// All segments but those of the last unit.
std::vector<SegmentId> all_but_the_head(const Model& model) {
  const Layout layout = build_layout(model);
  std::vector<SegmentId> segments;
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    if (layout.segments()[i].unit != layout.segments().back().unit) {
      segments.push_back(SegmentId{i});
    }
  }
  return segments;
}

class FrozenPartsOf : public testing::TestWithParam<std::string> {};

/// Of a batch norm one parameter is frozen and the other is not: it normalises as ever.
TEST_P(FrozenPartsOf, HaveNoGradientAndLeaveThoseOfOthersAsTheyAre) {
  const Model model = small_model(GetParam());
  FrozenTrial all(model, {}), some(model, every_second(model));

  all.run();
  some.run();

  EXPECT_EQ(some.loss, all.loss);
  for (const Segment& segment : some.layout.segments()) {
    const auto found = some.gradients.view(segment.range);
    if (segment.trained) {
      EXPECT_TRUE(std::ranges::equal(found, all.gradients.view(segment.range)))
          << segment.name;
    } else {
      EXPECT_EQ(std::ranges::count(found, kNotWritten), std::ssize(found))
          << segment.name;
    }
  }
}

TEST_P(FrozenPartsOf, NeedNoBackwardWhereNothingBeforeIsTrained) {
  const Model model = small_model(GetParam());
  FrozenTrial all(model, {}), head(model, all_but_the_head(model));

  head.run();

  const std::size_t last = head.layout.unit_count() - 1;
  std::vector<std::string> backward;
  for (const std::string& event : head.recorder.events) {
    if (event.find("forward") == std::string::npos) backward.push_back(event);
  }
  EXPECT_EQ(backward.front(), "before backward " + std::to_string(last));
  EXPECT_EQ(backward.back(), "after backward " + std::to_string(last));
  EXPECT_EQ(backward.size(), 2 + head.layout.trained_segment_count());
  for (const StageReport& report : head.network.reports()) {
    if (&report == &head.network.reports().back()) continue;
    EXPECT_EQ(report.backward_seconds, 0) << report.name;
  }
  EXPECT_LT(head.network.arena_bytes(), all.network.arena_bytes());
}

INSTANTIATE_TEST_SUITE_P(Models, FrozenPartsOf, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

Model with_norm() {
  return {"norm",
          {2, 6, 5},
          {Convolution{.name = "a", .channels = 4, .kernel = 3}, BatchNorm{"bn"}, Relu{},
           Flatten{}, Linear{"head", 3}}};
}

class FrozenBatchNorm : public testing::Test {
 protected:
  FrozenBatchNorm() {
    const std::vector<float> numbers = made_up_numbers(trial.statistics.size(), 7);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      trial.statistics.data()[i] = 1.5f + numbers[i];  // variances are positive
    }
  }

  FrozenTrial trial{with_norm(), {SegmentId{2}, SegmentId{3}}};
};

TEST_F(FrozenBatchNorm, NormalisesInTrainingAsInEvaluation) {
  ASSERT_EQ(trial.layout.segments()[2].name, "bn.weight");
  Network evaluates(trial.model, trial.layout,
                    {.training = false, .statistics = &trial.statistics}, trial.team);

  trial.run();

  EXPECT_EQ(trial.loss, trial.forward(evaluates));
}

TEST_F(FrozenBatchNorm, IsAConstantScaleAndShiftToTheGradient) {
  trial.run();
  const std::vector<float> way =
      made_up_numbers(trial.layout.segments()[0].range.size(), 3);
  double expected = 0;
  for (std::size_t i = 0; i < way.size(); ++i) {
    expected += static_cast<double>(way[i]) * trial.gradients.data()[i];
  }
  const auto loss_after = [&](float step) {
    for (std::size_t i = 0; i < way.size(); ++i) trial.values.data()[i] += step * way[i];
    return trial.forward(trial.network);
  };

  constexpr float kStep = 1e-3f;
  const double above = loss_after(kStep), below = loss_after(-2 * kStep);

  EXPECT_NEAR((above - below) / (2 * kStep), expected, 2e-2 * std::abs(expected));
}

TEST_F(FrozenBatchNorm, KeepsItsRunningStatistics) {
  const std::vector<float> before(trial.statistics.numbers().begin(),
                                  trial.statistics.numbers().end());
  Microbatches microbatches(trial.network, trial.layout, all_microbatches(2), trial.team);

  microbatches.run(trial.batch.samples(), trial.values, {}, trial.recorder);
  microbatches.update_running_stats(trial.batch.labels.size(), trial.statistics);

  EXPECT_TRUE(std::ranges::equal(trial.statistics.numbers(), before));
}

}  // namespace
}  // namespace convoy
