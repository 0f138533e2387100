// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/point_losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/comm/alone_comm.h"
#include "convoy/data/synthetic.h"
#include "tests/comm/thread_ranks.h"
#include "tests/landscape/some_weights.h"

namespace convoy {
namespace {

class LossesOfPoints : public testing::Test {
 protected:
  LossesOfPoints() {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      points.push_back(some_weights(model, seed));
    }
  }

  PointSource source() const {
    return {.count = points.size(),
            .set_weights = [this](std::size_t point, OwnedWeights& weights) {
              std::ranges::copy(points[point].values.numbers(), weights.values.data());
              std::ranges::copy(points[point].statistics.numbers(),
                                weights.statistics.data());
            }};
  }

  std::vector<LossSum> run(Comm& comm, int threads) const {
    ThreadTeam team(threads);
    PointLosses losses(model, {.measure_over = measure_over}, team, comm);
    return losses.run(source(), set, {}).value();
  }

  std::vector<LossSum> run_alone(int threads = 1) const {
    AloneComm alone;
    return run(alone, threads);
  }

  /// Uses a network with batch norms, on small images in color.
  void use_batch_norm() {
    points.clear();
    model = some_model("fastnet_small");
    data = make_synthetic({.shape = {3, 32, 32}, .train_count = 40, .test_count = 19});
    points.push_back(some_weights(model, 1));
    points.push_back(some_weights(model, 2));
    set.samples = all_of(data.test, measure(data.train)).samples;
    set.normalization = measure(data.train);
  }

  LaidOutModel model = some_model();
  // Three batches, the last of them smaller.
  DataPair data = make_synthetic({.train_count = 40, .test_count = 530});
  EvaluationSet set = all_of(data.test, measure(data.train));
  std::vector<OwnedWeights> points;
  const EvaluationSet* measure_over = nullptr;
};

TEST_F(LossesOfPoints, AreThoseOfAnEvaluationToTheBit) {
  const std::vector<LossSum> found = run_alone();

  ThreadTeam team(2);
  Evaluator evaluator(model.model, model.layout, {}, team);
  ASSERT_EQ(found.size(), 5u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const LossSum expected =
        evaluator.run(set, {points[i].values, points[i].statistics}).sum;
    EXPECT_EQ(found[i], expected) << i;
  }
  EXPECT_NE(found[0].loss, found[1].loss);
}

TEST_F(LossesOfPoints, HaveTheSameBitsOnAnyNumberOfRanksAndThreads) {
  const std::vector<LossSum> expected = run_alone();

  EXPECT_EQ(run_alone(/*threads=*/2), expected);
  for (const int ranks : {2, 3, 7}) {
    run_ranks(ranks, [&](Comm& comm) { EXPECT_EQ(run(comm, 1), expected) << ranks; });
  }
}

TEST_F(LossesOfPoints, AreOfStatisticsMeasuredAnewIfWanted) {
  use_batch_norm();
  const EvaluationSet training = all_of(data.train, set.normalization);
  const std::vector<LossSum> kept = run_alone();
  measure_over = &training;
  const std::vector<LossSum> measured = run_alone();

  EXPECT_NE(measured[0].loss, kept[0].loss);
  // What a point brings along does not matter then.
  for (OwnedWeights& point : points) {
    for (float& number : point.statistics.view({0, point.statistics.size()})) {
      number = 7;
    }
  }
  EXPECT_EQ(run_alone(), measured);
  run_ranks(2, [&](Comm& comm) { EXPECT_EQ(run(comm, 1), measured); });
}

/// With one batch, the mean over batches is that batch's own statistics.
TEST_F(LossesOfPoints, AreMeasuredAsBatchNormsFindThem) {
  use_batch_norm();
  const EvaluationSet training = all_of(data.train, set.normalization);
  measure_over = &training;
  ThreadTeam team(1);
  Network network(model.model, model.layout, {.most_samples = 256}, team);
  Loader loader(
      data.train, training.samples,
      {.batch_size = 256, .shuffle = false, .normalization = set.normalization});
  loader.start_epoch(0);
  const Batch* batch = loader.next();
  PassListener no_listener;
  network.forward({batch->images, batch->labels}, points[0].values, {}, no_listener);
  Evaluator evaluator(model.model, model.layout, {}, team);

  const LossSum expected =
      evaluator.run(set, {points[0].values, network.batch_statistics()}).sum;

  EXPECT_EQ(run_alone()[0], expected);
}

TEST_F(LossesOfPoints, AreNoneIfARankIsAskedToStop) {
  run_ranks(2, [&](Comm& comm) {
    ThreadTeam team(1);
    PointLosses losses(model, {}, team, comm);
    double done = 0;
    const PointObserver observer{
        .progress = [&](double part) { done = part; },
        .should_stop = [&] { return comm.rank() == 1 && done > 0; }};

    EXPECT_FALSE(losses.run(source(), set, observer).has_value());
    EXPECT_LT(done, 1);
  });
}

TEST_F(LossesOfPoints, TellHowMuchIsDone) {
  AloneComm alone;
  ThreadTeam team(1);
  PointLosses losses(model, {}, team, alone);
  std::vector<double> parts;
  losses.run(source(), set, {.progress = [&](double part) { parts.push_back(part); }});

  EXPECT_EQ(parts.size(), 15u) << "five points, three batches";
  EXPECT_TRUE(std::ranges::is_sorted(parts));
  EXPECT_DOUBLE_EQ(parts.back(), 1);
}

}  // namespace
}  // namespace convoy
