// SPDX-License-Identifier: Apache-2.0
//
// Fsdp with a layout of several chunks, whose parts lie on different ranks: every level,
// number of ranks and of micro-batches ends at the bits of one rank alone.

#include "convoy/strategy/fsdp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/strategy/made_up_training.h"

namespace convoy {
namespace {

constexpr std::size_t kFsdpChunk = kOptimizerChunk;

/// Units smaller and larger than a chunk, whose ends lie within chunks.
Layout several_chunks() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("a.weight", {100, 9}, Role::weight);
  builder.begin_unit();
  builder.add("b.weight", {5 * kFsdpChunk / 2}, Role::weight);
  builder.add("b.bias", {33}, Role::bias);
  builder.begin_unit();
  builder.add("c.weight", {kFsdpChunk}, Role::weight);
  builder.begin_unit();
  builder.add("d.weight", {700}, Role::weight);
  builder.add("d.bias", {7}, Role::bias);
  return std::move(builder).build();
}

struct FsdpCase {
  int ranks;
  std::size_t microbatches;
  FsdpOptions options{};
  Transport transport = Transport::shared;
};

MadeUpRun run_of(const FsdpCase& tried) {
  return {.strategy = "fsdp",
          .microbatches = tried.microbatches,
          .longest = 40,  // about half of the steps are clipped
          .options = {.fsdp = tried.options},
          .layout = several_chunks()};
}

class FsdpOf : public testing::TestWithParam<FsdpCase> {};

TEST_P(FsdpOf, EndsWhereOneRankAloneEnds) {
  MadeUpRun run = run_of(GetParam());
  run.frozen = {SegmentId{2}, SegmentId{4}};
  const Ending alone = train_alone(run);

  run_ranks(
      GetParam().ranks,
      [&](Comm& comm) {
        const Ending found = train(run, comm);
        EXPECT_EQ(found.values, alone.values) << "rank " << comm.rank();
      },
      GetParam().transport);
}

std::vector<FsdpCase> all_fsdp_cases() {
  std::vector<FsdpCase> cases;
  for (const FsdpShard shard :
       {FsdpShard::optimizer, FsdpShard::gradients, FsdpShard::all}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      const auto count = static_cast<std::size_t>(ranks);
      for (const std::size_t microbatches : {count, count + 1, 3 * count + 2}) {
        cases.push_back({ranks, microbatches, {.shard = shard}});
      }
    }
  }
  for (const bool reshard : {true, false}) {
    for (const bool prefetch : {true, false}) {
      cases.push_back({3,
                       7,
                       {.reshard_after_forward = reshard, .prefetch = prefetch},
                       Transport::tcp});
    }
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<FsdpCase>& info) {
  constexpr const char* kLevels[] = {"Optimizer", "Gradients", "All"};
  const FsdpCase& tried = info.param;
  return fmt::format(
      "{}_Ranks{}_Microbatches{}{}{}{}", kLevels[static_cast<int>(tried.options.shard)],
      tried.ranks, tried.microbatches, tried.options.reshard_after_forward ? "" : "_Kept",
      tried.options.prefetch ? "" : "_NoPrefetch",
      tried.transport == Transport::tcp ? "_Tcp" : "");
}

/// While others gather values, sum gradients, or exchange the norm's chunks.
TEST(Fsdp, NamesARankThatIsLostInAnyPhase) {
  for (const Transport transport : {Transport::shared, Transport::tcp}) {
    for (const char* phase : {"forward 0", "forward 2", "backward 1", "step 1"}) {
      MadeUpRun run = run_of({3, 7});
      run.before = [&](const Comm& comm, const std::string& event) {
        if (comm.rank() == 1 && event == phase) throw std::runtime_error("killed");
      };
      const auto thrown = try_ranks(
          3, [&](Comm& comm) { train(run, comm); }, transport);
      for (const std::size_t rank : {0u, 2u}) {
        try {
          ASSERT_TRUE(thrown[rank]) << phase;
          std::rethrow_exception(thrown[rank]);
        } catch (const PeerError& error) {
          EXPECT_EQ(error.rank(), 1) << phase << ": " << error.what();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, FsdpOf, testing::ValuesIn(all_fsdp_cases()),
                         name_of_case);

}  // namespace
}  // namespace convoy
