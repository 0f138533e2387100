// SPDX-License-Identifier: Apache-2.0
//
// Law 5, and the part of law 3 that needs no ranks: where a run ends follows from seed,
// batch and micro-batches, not from threads or from chance.

#include <gtest/gtest.h>

#include "tests/network/made_up.h"
#include "tests/network/short_training.h"

namespace convoy {
namespace {

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

TEST_P(TrainingOf, DoesNotDependOnWhatIsRecomputed) {
  const std::string kept = train({.model = GetParam()});

  for (const int threads : {1, 2}) {
    const Training again = {
        .model = GetParam(), .threads = threads, .recompute_units = kAllUnits};
    EXPECT_EQ(train(again), kept) << threads << " threads";
  }
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
