// SPDX-License-Identifier: Apache-2.0
//
// Every registered strategy for several ranks ends where one rank alone ends that has all
// microbatches: values and the statistics' sum, bit for bit. With clipped gradients, too,
// and with gradients that are exchanged in 16 bits.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/strategy/made_up_training.h"

namespace convoy {
namespace {

struct Case {
  std::string strategy;
  int ranks;
  std::size_t microbatches;
  double longest;  // gradient
  Dtype dtype = Dtype::fp32;

  MadeUpRun run() const {
    MadeUpRun run{strategy, microbatches, longest};
    run.gradients.dtype = dtype;
    return run;
  }
};

// Gradients of these sizes have a norm of some fifty; most are clipped or none.
constexpr double kShort = 1, kAny = 1e9;

class EveryStrategy : public testing::TestWithParam<Case> {};

TEST_P(EveryStrategy, EndsWhereOneRankAloneEnds) {
  const MadeUpRun run = GetParam().run();
  const Ending alone = train_alone(run);
  const Layout statistics_layout = some_statistics();
  const FlatBuffer sum = sum_over(kSteps - 1, {0, run.microbatches}, statistics_layout);

  run_ranks(GetParam().ranks, [&](Comm& comm) {
    const Ending found = train(run, comm);
    EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
    EXPECT_TRUE(std::ranges::equal(found.statistics, sum.numbers()));
  });
}

/// "b.weight" is most of the layout: without it few gradients are left to send.
/// The sums of two numbers over the ranks.
std::pair<std::uint64_t, std::uint64_t> over_all_ranks(Comm& comm, std::uint64_t a,
                                                       std::uint64_t b) {
  const std::uint64_t own[] = {a, b};
  std::vector<std::uint64_t> every(2 * static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(own)),
                  std::as_writable_bytes(std::span(every)));
  std::pair<std::uint64_t, std::uint64_t> sums;
  for (std::size_t i = 0; i < every.size(); i += 2) {
    sums.first += every[i];
    sums.second += every[i + 1];
  }
  return sums;
}

TEST_P(EveryStrategy, DoesNotSendWhatIsFrozenAndEndsWhereOneRankAloneEnds) {
  MadeUpRun some = GetParam().run();
  some.frozen = {SegmentId{1}, SegmentId{2}};
  const Ending alone = train_alone(some);

  run_ranks(GetParam().ranks, [&](Comm& comm) {
    const Ending found = train(some, comm);
    const std::uint64_t all =
        train(GetParam().run(), comm).gradients_sent - found.gradients_sent;
    EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
    // With fsdp, a rank that owns a unit sends nothing of its gradients: only the sum
    // over ranks is less.
    if (all > 0 && GetParam().strategy != "fsdp") {
      EXPECT_LT(found.gradients_sent, all / 2);
    }
    const auto [of_trained, of_all] = over_all_ranks(comm, found.gradients_sent, all);
    if (of_all > 0) {
      EXPECT_LT(of_trained, of_all / 2);
    }
  });
}

TEST_P(EveryStrategy, SkipsTheStepOfAnInfiniteGradientOnAllRanks) {
  MadeUpRun run = GetParam().run();
  run.gradients.infinite = {1, run.microbatches - 1};
  const Ending alone = train_alone(run);
  EXPECT_EQ(alone.loss_scale,
            (LossScaleState{.scale = 2, .good_steps = 1, .skipped = 1}));

  run_ranks(GetParam().ranks, [&](Comm& comm) {
    const Ending found = train(run, comm);
    EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
    EXPECT_EQ(found.loss_scale, alone.loss_scale) << "rank " << comm.rank();
  });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& strategy : strategy_names()) {
    if (is_for_one_rank(strategy)) continue;
    for (const int ranks : {1, 2, 3, 4}) {
      for (const std::size_t microbatches : {4u, 5u, 11u}) {
        cases.push_back({strategy, ranks, microbatches, kAny});
        cases.push_back({strategy, ranks, microbatches, kShort});
        cases.push_back({strategy, ranks, microbatches, kAny, Dtype::fp16});
        cases.push_back({strategy, ranks, microbatches, kShort, Dtype::bf16});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryStrategy, testing::ValuesIn(all_cases()),
                         [](const auto& info) {
                           return fmt::format(
                               "{}_Ranks{}_Microbatches{}{}_{}", info.param.strategy,
                               info.param.ranks, info.param.microbatches,
                               info.param.longest == kShort ? "_Clipped" : "",
                               name_of(info.param.dtype));
                         });

TEST(StrategyIn16Bits, SendsHalfTheBytes) {
  for (const char* strategy : {"gather_scatter", "all_reduce", "ddp", "fsdp"}) {
    run_ranks(3, [&](Comm& comm) {
      MadeUpRun run{.strategy = strategy, .microbatches = 5};
      const std::uint64_t full = train(run, comm).gradients_sent;
      run.gradients.dtype = Dtype::fp16;
      const std::uint64_t narrow = train(run, comm).gradients_sent - full;
      const auto [of_full, of_narrow] = over_all_ranks(comm, full, narrow);
      // Statistics are sent in fp32.
      EXPECT_NEAR(static_cast<double>(of_narrow) / static_cast<double>(of_full), 0.5,
                  0.03)
          << strategy;
    });
  }
}

TEST(StrategyWithClip, ClipsWhatIsLongerThanAllowed) {
  EXPECT_NE(train_alone({.longest = kAny}).values,
            train_alone({.longest = kShort}).values);
}

TEST(Registry, KnowsWhichAreForOneRankAlone) {
  EXPECT_TRUE(is_for_one_rank("single"));
  EXPECT_FALSE(is_for_one_rank("ddp"));
}

TEST(Registry, DealsInTurnWhereGradientsAreDivided) {
  EXPECT_EQ(deal_of("ddp", {}), Deal::runs);
  EXPECT_EQ(deal_of("fsdp", {}), Deal::in_turn);
  EXPECT_EQ(deal_of("fsdp", {.fsdp = {.shard = FsdpShard::gradients}}), Deal::in_turn);
  EXPECT_EQ(deal_of("fsdp", {.fsdp = {.shard = FsdpShard::optimizer}}), Deal::runs);
}

}  // namespace
}  // namespace convoy
