// SPDX-License-Identifier: Apache-2.0
//
// A run on several ranks, which are threads here: who writes what, who is refused, who is
// slow.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/settings/settings.h"
#include "convoy/strategy/registry.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/base/expect_error.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RunOnRanks : public testing::Test {
 protected:
  /// Trains on as many ranks; the first one writes the folder "a".
  std::vector<Outcome> train_rank(int ranks) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    RunFolder folder = RunFolder::create(here.path(), "a", "default");
    run_ranks(ranks, [&](Comm& comm) {
      Trainer trainer(settings, comm);
      outcomes[static_cast<std::size_t>(comm.rank())] = trainer.train(
          comm.is_first() ? &folder : nullptr, nullptr, stop, "the command");
    });
    return outcomes;
  }

  json rank_summary() const {
    return json::parse(read_text(here.path() / "a" / "summary.json"));
  }

  std::string log() const { return read_text(here.path() / "a" / "log.txt"); }

  std::vector<json> step_lines() const {
    std::vector<json> lines;
    std::istringstream text(read_text(here.path() / "a" / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      json record = json::parse(line);
      if (record.at("kind") == "step") lines.push_back(std::move(record));
    }
    return lines;
  }

  TemporaryFolder here;
  StopRequest stop;
  // Three steps per epoch, the last of them smaller.
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
};

TEST_F(RunOnRanks, IsSummedUpRankByRank) {
  train_rank(3);

  const json found = rank_summary();
  EXPECT_EQ(found.at("ranks"), 3);
  EXPECT_EQ(found.at("microbatches"), 3) << "one per rank, if nothing else is said";
  EXPECT_EQ(found.at("lanes"), 3) << "the name it had before";
  EXPECT_EQ(found.at("strategy"), "ddp") << "if nothing else is said";
  EXPECT_EQ(found.at("steps"), 6);
  for (const char* list : {"communication", "peak_rss_bytes", "rank_ms", "kernels"}) {
    EXPECT_EQ(found.at(list).size(), 3u) << list;
  }
  for (const json& rank : found.at("communication")) {
    EXPECT_GT(rank.at("bytes_sent"), 0);
    EXPECT_GT(rank.at("bytes_received"), 0);
  }
  EXPECT_GT(found.at("seconds").at("exposed_communication"), 0);
}

TEST_F(RunOnRanks, HasTheSameOutcomeOnAll) {
  const std::vector<Outcome> outcomes = train_rank(3);

  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, ExitCode::done);
    EXPECT_EQ(outcome.train.samples, 35u);
    EXPECT_EQ(outcome.train.loss, outcomes[0].train.loss);
    EXPECT_EQ(outcome.test->sum.samples, 9u);
    EXPECT_EQ(outcome.test->sum.loss, outcomes[0].test->sum.loss);
  }
}

TEST_F(RunOnRanks, RecordsEachRanksStep) {
  train_rank(2);

  const std::vector<json> lines = step_lines();
  ASSERT_EQ(lines.size(), 6u);
  for (const json& line : lines) {
    ASSERT_EQ(line.at("ranks").size(), 2u);
    for (const char* number : {"own_ms", "data_ms", "exposed_ms", "bytes_sent"}) {
      EXPECT_TRUE(line.at("ranks")[1].contains(number)) << number;
    }
  }
  EXPECT_GT(lines[1].at("ranks")[1].at("own_ms"), 0);
  EXPECT_GT(lines[1].at("ranks")[1].at("bytes_sent"), 0);
}

TEST_F(RunOnRanks, DivergesOnAllTogether) {
  settings.optimizer.lr = 1e30;
  settings.train.epochs = 9;

  for (const Outcome& outcome : train_rank(2))
    EXPECT_EQ(outcome.code, ExitCode::diverged);

  EXPECT_EQ(rank_summary().at("exit").at("code"), 79);
}

TEST_F(RunOnRanks, StopsOnAllAfterTheSameStep) {
  ::raise(SIGTERM);

  for (const Outcome& outcome : train_rank(2)) {
    EXPECT_EQ(outcome.code, ExitCode::stopped);
    EXPECT_THAT(outcome.reason, HasSubstr("SIGTERM after step 1 (epoch 1)"));
  }
}

/// The control of the record of stragglers: one that is put there.
class SlowRank : public RunOnRanks, public testing::WithParamInterface<std::string> {};

TEST_P(SlowRank, IsNamed) {
  settings.strategy.name = find_choice<StrategyChoice>(GetParam()).value();
  settings.inject.delay = "10";
  settings.inject.slow_rank = 2;
  settings.inject.slow_factor = 6;
  settings.train.log_every = 3;

  train_rank(3);

  EXPECT_THAT(rank_summary().at("slowest").get<std::string>(),
              HasSubstr("slowest: rank 2, own compute"));
  EXPECT_THAT(log(), HasSubstr("slowest: rank 2, own compute"));
  const json ranks = rank_summary().at("rank_ms");
  EXPECT_GE(ranks[2].at("own"), 60);
  EXPECT_GE(ranks[2].at("injected_in_all"), 6 * 60);
  EXPECT_LT(ranks[2].at("exposed_communication"), ranks[0].at("exposed_communication"))
      << "the others wait for it";
}

std::vector<std::string> several_ranks_strategies() {
  std::vector<std::string> names = strategy_names();
  std::erase_if(names, is_for_one_rank);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Strategies, SlowRank,
                         testing::ValuesIn(several_ranks_strategies()),
                         [](const auto& info) { return info.param; });

/// Refuses before any rank talks, so one that never talks will do.
class SilentComm final : public Comm {
 public:
  using Comm::Comm;

 private:
  void do_exchange(const Exchange&) override { talk(); }
  void do_reduce(const Reduction&) override { talk(); }

  static void talk() { ADD_FAILURE() << "nobody is there"; }
};

TEST_F(RunOnRanks, NeedsAMicrobatchForEachRank) {
  settings.train.microbatches = 2;
  SilentComm comm(0, 4);

  expect_error(InputKind::settings,
               {"train.microbatches", "2 micro-batches for 4 ranks",
                "at least one micro-batch per rank", "train.microbatches=4"},
               [&] { Trainer trainer(settings, comm); });
}

TEST_F(RunOnRanks, NeedsASampleForEachMicrobatch) {
  settings.train.batch_size = 3;
  SilentComm comm(0, 4);

  expect_error(InputKind::settings, {"train.batch_size", "3 samples in 4 micro-batches"},
               [&] { Trainer trainer(settings, comm); });
}

TEST_F(RunOnRanks, IsNotForASingleRanksStrategy) {
  settings.strategy.name = StrategyChoice::single;
  SilentComm comm(0, 2);

  expect_error(InputKind::settings,
               {"strategy.name", "single on 2 ranks", "strategy=ddp"},
               [&] { Trainer trainer(settings, comm); });
}

TEST_F(RunOnRanks, SlowsOnlyARankThatIsThere) {
  settings.inject.slow_rank = 2;
  SilentComm comm(0, 2);

  expect_error(InputKind::settings, {"inject.slow_rank", "2", "below 2"},
               [&] { Trainer trainer(settings, comm); });
}

TEST_F(RunOnRanks, IsPlannedWithoutTheOthers) {
  settings.train.microbatches = 5;
  SilentComm comm(1, 4);

  const std::string plan = Trainer(settings, comm).plan();

  EXPECT_THAT(plan, HasSubstr("4 ranks, strategy ddp, 1 threads each"));
  EXPECT_THAT(plan, HasSubstr("in 5 micro-batches"));
}

/// Rank 0's plan where it has these kernels and rank 1 others.
std::string plan_with(KernelsChoice kernels,
                      KernelsChoice others = KernelsChoice::reference) {
  std::string plan;
  run_ranks(2, [&](Comm& comm) {
    Settings own = small_settings(35, 9, 16, /*threads=*/1);
    own.precision.name = PrecisionChoice::bf16;
    own.network.kernels = comm.is_first() ? kernels : others;
    Trainer trainer(own, comm);
    trainer.gather_kernel_sets();
    if (comm.is_first()) plan = trainer.plan();
  });
  return plan;
}

TEST(PlanOnRanks, SaysWhichRankUsesWhichKernels) {
  const std::string best = name_of(available_kernel_sets().front());
  if (best == "reference") GTEST_SKIP() << "this processor has no others";

  EXPECT_THAT(plan_with(KernelsChoice::auto_),
              HasSubstr("kernels   " + best +
                        " on rank 0, reference on rank 1, to the same bits\n"));
  const std::string alike = plan_with(KernelsChoice::reference);
  EXPECT_THAT(alike, HasSubstr(", reference kernels\n"));
  EXPECT_THAT(alike, testing::Not(HasSubstr("on rank 0")));
}

TEST(PlanOnRanks, SaysThatBitsOfBf16ProductsDiffer) {
  const KernelsChoice bf16 = KernelsChoice::reference_plus_bf16;

  EXPECT_THAT(plan_with(bf16, bf16),
              HasSubstr("kernels   reference+bf16, to the bits of bf16 dot products, "
                        "which differ from those of other kernels\n"));
  EXPECT_THAT(plan_with(bf16),
              HasSubstr("kernels   reference+bf16 on rank 0, reference on rank 1, whose "
                        "products of bf16 differ:\n"
                        "          bits depend on which rank computes what\n"));
  EXPECT_THAT(plan_with(KernelsChoice::reference_plus_amx, bf16),
              HasSubstr("reference+amx on rank 0, reference+bf16 on rank 1, whose "));
}

}  // namespace
}  // namespace convoy
