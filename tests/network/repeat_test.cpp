// SPDX-License-Identifier: Apache-2.0
//
// Law 5, and the part of law 3 that needs no ranks: where a run ends follows from seed,
// batch and micro-batches, not from threads or from chance.

#include <gtest/gtest.h>

#include "convoy/network/microbatches.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/strategy/single.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

struct Training {
  std::string model;
  std::size_t batch = 17;  // two packs
  std::size_t microbatches = 1;
  int threads = 1;
  std::uint64_t seed = 1;
};

/// The digest of the weights after two steps.
std::string train(const Training& run) {
  const Model model = small_model(run.model);
  const Layout layout = build_layout(model);
  ThreadTeam team(run.threads);
  const Layout statistics_layout = build_statistics_layout(model);
  FlatBuffer values = made_up_values(layout, run.seed);
  FlatBuffer statistics(statistics_layout);
  Network network(
      model, layout,
      {.most_samples = Microbatches::most_samples(run.batch, run.microbatches)}, team);
  Microbatches microbatches(network, layout, all_microbatches(run.microbatches), team);
  Sgd sgd(layout,
          {.rate = 0.05f, .momentum = 0.9f, .parameters = {.weight_decay = 1e-4f}}, team);
  Single strategy({layout, values, statistics, microbatches.gradients(),
                   microbatches.batch_stats(), sgd});
  for (std::uint32_t step = 0; step < 2; ++step) {
    const MadeUpBatch batch(model, run.batch, step);
    microbatches.run(batch.samples(), values, {.seed = run.seed, .step = step}, strategy);
    strategy.step();
    microbatches.update_running_stats(run.batch, statistics);
  }
  return weights_sha256(layout, values, statistics_layout, statistics);
}

class TrainingOf : public testing::TestWithParam<std::string> {};

TEST_P(TrainingOf, DoesNotDependOnThreads) {
  for (const std::size_t batch : {1u, 17u}) {
    const std::string alone = train({.model = GetParam(), .batch = batch});

    EXPECT_EQ(train({.model = GetParam(), .batch = batch, .threads = 2}), alone) << batch;
    EXPECT_EQ(train({.model = GetParam(), .batch = batch, .threads = 3}), alone) << batch;
  }
}

TEST_P(TrainingOf, DoesNotDependOnThreadsInMicrobatchesEither) {
  const std::string alone = train({.model = GetParam(), .microbatches = 3});

  EXPECT_EQ(train({.model = GetParam(), .microbatches = 3, .threads = 2}), alone);
}

TEST_P(TrainingOf, EndsAtTheSamePlaceTwiceAndElsewhereForAnotherSeed) {
  const Training run = {.model = GetParam(), .threads = 2};
  Training other = run;
  other.seed = 2;

  const std::string first = train(run);
  EXPECT_EQ(train(run), first);
  EXPECT_NE(train(other), first);
}

INSTANTIATE_TEST_SUITE_P(Models, TrainingOf, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

class TrainingInMicrobatches : public testing::TestWithParam<std::size_t> {};

TEST_P(TrainingInMicrobatches, DoesNotDependOnThreads) {
  for (const std::size_t batch : {3u, 33u}) {
    const Training run = {.model = "odd", .batch = batch, .microbatches = GetParam()};
    const std::string alone = train(run);

    for (const int threads : {2, 3}) {
      Training shared = run;
      shared.threads = threads;
      EXPECT_EQ(train(shared), alone) << "batch " << batch << ", threads " << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Microbatches, TrainingInMicrobatches,
                         testing::Values(1, 2, 3, 4, 5, 7));

// Or the tests above would compare runs that learned nothing.
TEST(TrainingOnce, MovesTheWeights) {
  const Layout layout = build_layout(odd_model());
  const FlatBuffer first = made_up_values(layout, /*seed=*/1);

  EXPECT_NE(train({.model = "odd"}), weights_sha256(layout, first));
}

}  // namespace
}  // namespace convoy
