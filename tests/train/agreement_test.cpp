// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/agreement.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

/// Numbers whose sum depends on the order in which they are added.
LossSum loss_of_lane(std::size_t lane) {
  const double large = lane % 2 == 0 ? 1e16 : -1e16;
  return {.loss = large + static_cast<double>(lane) * 3.7,
          .correct = lane,
          .samples = lane + 1};
}

std::vector<LossSum> losses_of(Range lanes) {
  std::vector<LossSum> losses;
  for (std::size_t lane = lanes.begin; lane < lanes.end; ++lane) {
    losses.push_back(loss_of_lane(lane));
  }
  return losses;
}

class AgreementOf : public testing::TestWithParam<int> {};

TEST_P(AgreementOf, AddsLossesInLaneOrderOnAllRanks) {
  constexpr std::size_t kLanes = 7;
  LossSum expected;
  for (const LossSum& lane : losses_of({0, kLanes})) expected += lane;

  run_ranks(GetParam(), [&](Comm& comm) {
    const SumOrder order(kLanes, comm.ranks());
    AsyncComm background(comm);
    Agreement agreement(background, order, comm.rank());
    for (int step = 0; step < 3; ++step) {
      agreement.start({}, losses_of(order.lanes_of(comm.rank())));
      const LossSum sum = agreement.finish();
      EXPECT_EQ(sum.loss, expected.loss);
      EXPECT_EQ(sum.correct, expected.correct);
      EXPECT_EQ(sum.samples, expected.samples);
    }
  });
}

TEST_P(AgreementOf, TellsAllWhatEachRankSaid) {
  run_ranks(GetParam(), [&](Comm& comm) {
    const SumOrder order(/*lanes=*/5, comm.ranks());
    AsyncComm background(comm);
    Agreement agreement(background, order, comm.rank());
    agreement.start({.own_seconds = 10.0 + comm.rank()},
                    losses_of(order.lanes_of(comm.rank())));
    agreement.finish();

    for (int rank = 0; rank < comm.ranks(); ++rank) {
      EXPECT_EQ(agreement.reports()[static_cast<std::size_t>(rank)].own_seconds,
                10.0 + rank);
    }
  });
}

/// A signal that only the last rank receives, in its second step.
TEST_P(AgreementOf, StopsAllAfterTheSameStep) {
  run_ranks(GetParam(), [&](Comm& comm) {
    const SumOrder order(/*lanes=*/5, comm.ranks());
    AsyncComm background(comm);
    Agreement agreement(background, order, comm.rank());
    for (int step = 0; step < 3; ++step) {
      const bool signalled = step >= 1 && comm.rank() == comm.ranks() - 1;
      agreement.start({.stop_signal = signalled ? SIGTERM : 0},
                      losses_of(order.lanes_of(comm.rank())));
      agreement.finish();
      EXPECT_EQ(agreement.stop_signal(), step >= 1 ? SIGTERM : 0) << step;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AgreementOf, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace convoy
