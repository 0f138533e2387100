// SPDX-License-Identifier: Apache-2.0
//
// What is predicted to be sent is what ranks send, to the byte: real strategies on ranks
// that are threads, and what their Comm has counted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/cost_model/step_cost.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/strategy/registry.h"
#include "tests/comm/thread_ranks.h"
#include "tests/strategy/three_units.h"

namespace convoy {
namespace {

constexpr std::size_t kBucketBytes = 1000;

CostProfile profile_of(const Layout& layout, const Layout& statistics) {
  CostProfile profile;
  profile.units.resize(layout.unit_count());
  for (std::size_t u = 0; u < layout.unit_count(); ++u) {
    profile.units[u].bytes = layout.unit(UnitId{u}).size() * sizeof(float);
  }
  for (const Segment& segment : layout.segments()) {
    profile.units[static_cast<std::size_t>(segment.unit)].tensors.push_back(
        segment.range.size() * sizeof(float));
  }
  profile.statistics_bytes = statistics.size() * sizeof(float);
  profile.passes = {{1, std::vector<UnitSeconds>(layout.unit_count())}};
  return profile;
}

/// Bytes that a rank sends in one step.
std::uint64_t sent_in_a_step(const std::string& name, Comm& comm,
                             std::size_t microbatches) {
  const Layout layout = three_units(), statistics_layout = some_statistics();
  const ReductionOrder order(microbatches, comm.ranks());
  const std::size_t partials = order.partials_of(comm.rank()).size();
  FlatBuffer values(layout), statistics(statistics_layout);
  std::vector<FlatBuffer> gradients, found;
  for (std::size_t i = 0; i < partials; ++i) {
    gradients.emplace_back(layout);
    found.emplace_back(statistics_layout);
  }
  const auto sums = [](std::vector<FlatBuffer>& buffers) {
    std::vector<FlatBuffer*> all;
    for (FlatBuffer& buffer : buffers) all.push_back(&buffer);
    return PartialSums(all);
  };
  ThreadTeam team(1);
  Sgd sgd(layout, {.rate = 0.1f}, team);
  AsyncComm async(comm);
  const auto strategy =
      make_strategy(name,
                    {layout, statistics_layout, values, statistics, sums(gradients),
                     sums(found), sgd, nullptr},
                    {comm, async, order}, {.bucket_bytes = kBucketBytes});
  strategy->begin();
  async.wait_all();
  const std::uint64_t before = comm.total_traffic().bytes_sent;
  for (std::size_t s = layout.segments().size(); s-- > 0;) {
    strategy->gradient_ready(SegmentId{s});
  }
  strategy->step();
  async.wait_all();
  return comm.total_traffic().bytes_sent - before;
}

std::uint64_t predicted(const std::string& name, int ranks, std::uint64_t partials) {
  CostedJob job{.cluster = {.machines = ranks}, .partials = partials};
  job.bucket_bytes = kBucketBytes;
  return step_cost(name, profile_of(three_units(), some_statistics()), job).sent;
}

class SentBytes : public testing::TestWithParam<std::string> {};

TEST_P(SentBytes, AreThoseThatTheFirstRankCounts) {
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Comm& comm) {
      const std::uint64_t sent =
          sent_in_a_step(GetParam(), comm, static_cast<std::size_t>(ranks));
      if (comm.is_first()) {
        EXPECT_EQ(predicted(GetParam(), ranks, 1), sent) << "of " << ranks << " ranks";
      }
    });
  }
}

TEST_P(SentBytes, GrowWithTheSumsOfARank) {
  constexpr std::size_t kMicrobatches = 5;  // of two ranks the first has (0+1) and 2
  run_ranks(2, [&](Comm& comm) {
    const std::uint64_t sent = sent_in_a_step(GetParam(), comm, kMicrobatches);
    if (comm.is_first()) {
      EXPECT_EQ(predicted(GetParam(), 2, 2), sent);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Strategies, SentBytes,
                         testing::Values("gather_scatter", "all_reduce", "ddp"),
                         [](const auto& tested) { return tested.param; });

TEST(SentBytesOfARank, AreCountedForEveryRankAndOperation) {
  constexpr std::size_t kFloats = 103;  // no multiple of any number of ranks
  constexpr std::uint64_t kBytes = kFloats * sizeof(float);
  for (int ranks = 2; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Comm& comm) {
      const ReductionOrder order(static_cast<std::size_t>(ranks), ranks);
      std::vector<float> numbers(kFloats);
      const float* partial = numbers.data();
      comm.all_reduce(order, {&partial, 1}, numbers);
      comm.reduce_scatter(order, {&partial, 1}, numbers);
      comm.all_gather_parts(numbers);
      const int rank = comm.rank();
      EXPECT_EQ(all_reduce_sent(kBytes, ranks, rank, 1),
                comm.traffic(Operation::all_reduce).bytes_sent);
      EXPECT_EQ(reduce_scatter_sent(kBytes, ranks, rank, 1),
                comm.traffic(Operation::reduce_scatter).bytes_sent);
      EXPECT_EQ(all_gather_sent(kBytes, ranks, rank),
                comm.traffic(Operation::all_gather).bytes_sent);
    });
  }
}

}  // namespace
}  // namespace convoy
