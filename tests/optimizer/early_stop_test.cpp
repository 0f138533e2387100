// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/early_stop.h"

#include <gtest/gtest.h>

#include <vector>

namespace convoy {
namespace {

/// After which of the evaluations it is over; 0 if after none.
std::size_t over_after(const EarlyStopOptions& options,
                       const std::vector<double>& metrics) {
  EarlyStop stop(options);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    stop.take_in(metrics[i], static_cast<int>(i) + 1);
    if (stop.is_over()) return i + 1;
  }
  return 0;
}

TEST(EarlyStop, WaitsForSoManyEvaluationsWithoutABetterOne) {
  EXPECT_EQ(over_after({.patience = 2}, {0.5, 0.6, 0.6, 0.7, 0.6, 0.7, 0.8}), 6u);
  EXPECT_EQ(over_after({.patience = 1}, {0.5, 0.5}), 2u);
}

TEST(EarlyStop, NeverEndsWithoutPatience) {
  EXPECT_EQ(over_after({.patience = 0}, {0.5, 0.4, 0.3, 0.2}), 0u);
}

TEST(EarlyStop, TakesALossForBetterThatIsLower) {
  EXPECT_EQ(over_after({.higher_better = false, .patience = 2}, {3, 2, 1, 0.5, 0.2}), 0u);
  EXPECT_EQ(over_after({.higher_better = false, .patience = 2}, {3, 3, 4}), 3u);
}

TEST(EarlyStop, DoesNotCountALittleBetter) {
  EXPECT_EQ(over_after({.patience = 2, .min_delta = 0.1}, {0.5, 0.55, 0.59}), 3u);
  EXPECT_EQ(over_after({.patience = 2, .min_delta = 0.1}, {0.5, 0.55, 0.61}), 0u);
}

TEST(EarlyStop, KnowsTheBestAndItsEpoch) {
  EarlyStop stop({.patience = 5});
  for (const int epoch : {1, 2, 3}) stop.take_in(epoch == 2 ? 0.9 : 0.5, epoch);
  EXPECT_EQ(stop.state(),
            (EarlyStopState{.best = 0.9, .best_epoch = 2, .without_better = 1}));
}

}  // namespace
}  // namespace convoy
