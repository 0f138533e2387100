// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/step_all_gather.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

/// Numbers whose sum depends on the order in which they are added.
LossSum loss_of_microbatch(std::size_t microbatch) {
  const double large = microbatch % 2 == 0 ? 1e16 : -1e16;
  return {.loss = large + static_cast<double>(microbatch) * 3.7,
          .correct = microbatch,
          .samples = microbatch + 1};
}

std::vector<LossSum> losses_of(Range microbatches) {
  std::vector<LossSum> losses;
  for (std::size_t microbatch = microbatches.begin; microbatch < microbatches.end;
       ++microbatch) {
    losses.push_back(loss_of_microbatch(microbatch));
  }
  return losses;
}

class AgreementOf : public testing::TestWithParam<int> {};

TEST_P(AgreementOf, AddsLossesInMicrobatchOrderOnAllRanks) {
  constexpr std::size_t kMicrobatches = 7;
  LossSum expected;
  for (const LossSum& microbatch : losses_of({0, kMicrobatches})) expected += microbatch;

  run_ranks(GetParam(), [&](Comm& comm) {
    const ReductionOrder order(kMicrobatches, comm.ranks());
    AsyncComm background(comm);
    StepAllGather agreement(background, order, comm.rank());
    for (int step = 0; step < 3; ++step) {
      agreement.start({}, losses_of(order.microbatches_of(comm.rank()).own));
      const LossSum sum = agreement.finish();
      EXPECT_EQ(sum.loss, expected.loss);
      EXPECT_EQ(sum.correct, expected.correct);
      EXPECT_EQ(sum.samples, expected.samples);
    }
  });
}

TEST_P(AgreementOf, TellsAllWhatEachRankSaid) {
  run_ranks(GetParam(), [&](Comm& comm) {
    const ReductionOrder order(/*microbatches=*/5, comm.ranks());
    AsyncComm background(comm);
    StepAllGather agreement(background, order, comm.rank());
    agreement.start({.own_seconds = 10.0 + comm.rank()},
                    losses_of(order.microbatches_of(comm.rank()).own));
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
    const ReductionOrder order(/*microbatches=*/5, comm.ranks());
    AsyncComm background(comm);
    StepAllGather agreement(background, order, comm.rank());
    for (int step = 0; step < 3; ++step) {
      const bool signalled = step >= 1 && comm.rank() == comm.ranks() - 1;
      agreement.start({.stop_signal = signalled ? SIGTERM : 0},
                      losses_of(order.microbatches_of(comm.rank()).own));
      agreement.finish();
      EXPECT_EQ(agreement.stop_signal(), step >= 1 ? SIGTERM : 0) << step;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AgreementOf, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace convoy
