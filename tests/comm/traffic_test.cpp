// SPDX-License-Identifier: Apache-2.0
//
// What operations are counted to have cost.

#include <gtest/gtest.h>

#include <mutex>

#include "tests/comm/microbatch_sums.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

void reduce(Comm& comm, std::size_t microbatches, std::size_t size, bool to_all,
            Dtype dtype = Dtype::fp32) {
  const ReductionOrder order(microbatches, comm.ranks());
  auto partials = partials_of_rank(order, comm.rank(), size, dtype);
  std::vector<const float*> pointers;
  for (const auto& partial : partials) pointers.push_back(partial.data());
  if (to_all) return comm.all_reduce(order, pointers, partials[0], dtype);
  comm.reduce_scatter(order, pointers, partials[0], {}, dtype);
}

class TrafficOf : public testing::TestWithParam<Transport> {};

/// Of five numbers, rank 0 owns three and rank 1 two.
TEST_P(TrafficOf, AnAllReduceIsExact) {
  run_ranks(
      2,
      [](Comm& comm) {
        reduce(comm, 2, 5, true);
        reduce(comm, 2, 5, true);
        const Traffic& traffic = comm.traffic(Operation::all_reduce);
        EXPECT_EQ(traffic.calls, 2u);
        EXPECT_EQ(traffic.bytes_sent, 2 * (2 + 3) * sizeof(float));
        EXPECT_EQ(traffic.bytes_received, 2 * (2 + 3) * sizeof(float));
        EXPECT_GT(traffic.seconds, 0);
      },
      GetParam());
}

TEST_P(TrafficOf, AnAllReduceIn16BitsIsHalf) {
  run_ranks(
      2,
      [](Comm& comm) {
        reduce(comm, 2, 5, true, Dtype::bf16);
        const Traffic& traffic = comm.traffic(Operation::all_reduce);
        EXPECT_EQ(traffic.bytes_sent, (2 + 3) * sizeof(std::uint16_t));
        EXPECT_EQ(traffic.bytes_received, (2 + 3) * sizeof(std::uint16_t));
      },
      GetParam());
}

/// Microbatches 0, 1 and 2 on rank 0 are two partials, 3 and 4 on rank 1 two more.
TEST_P(TrafficOf, SeveralPartialsIsExact) {
  run_ranks(
      2,
      [](Comm& comm) {
        reduce(comm, 5, 5, false);
        const Traffic& traffic = comm.traffic(Operation::reduce_scatter);
        const std::size_t owned = comm.rank() == 0 ? 3 : 2;
        EXPECT_EQ(traffic.bytes_sent, 2 * (5 - owned) * sizeof(float));
        EXPECT_EQ(traffic.bytes_received, 2 * owned * sizeof(float));
      },
      GetParam());
}

TEST_P(TrafficOf, OneAnothersMessagesIsExact) {
  run_ranks(
      3,
      [](Comm& comm) {
        std::vector<std::byte> bytes(10), all(30);
        comm.broadcast(bytes, 1);
        comm.all_gather(bytes, all);
        const bool root = comm.rank() == 1;
        EXPECT_EQ(comm.traffic(Operation::broadcast).bytes_sent, root ? 20u : 0u);
        EXPECT_EQ(comm.traffic(Operation::broadcast).bytes_received, root ? 0u : 10u);
        EXPECT_EQ(comm.traffic(Operation::all_gather).bytes_sent, 20u);
        EXPECT_EQ(comm.traffic(Operation::all_gather).bytes_received, 20u);
      },
      GetParam());
}

TEST_P(TrafficOf, AllRanksBalances) {
  for (const int ranks : {2, 3, 5}) {
    Traffic total;
    std::mutex mutex;
    run_ranks(
        ranks,
        [&](Comm& comm) {
          const std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks), 7);
          std::vector<std::byte> own(7), all(comm.rank() == 0 ? 7 * sizes.size() : 0);
          std::vector<float> numbers(101);
          comm.gather(own, all, sizes, 0);
          comm.scatter(all, own, sizes, 0);
          comm.all_gather_parts(numbers);
          reduce(comm, 7, 1001, true);
          comm.barrier();
          const std::lock_guard lock(mutex);
          total += comm.total_traffic();
        },
        GetParam());

    EXPECT_EQ(total.calls, 5u * static_cast<unsigned>(ranks));
    EXPECT_EQ(total.bytes_sent, total.bytes_received);
    EXPECT_GT(total.bytes_sent, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrafficOf,
                         testing::Values(Transport::tcp, Transport::shared),
                         [](const auto& info) {
                           return info.param == Transport::tcp ? "Tcp" : "Shared";
                         });

TEST(Traffic, OfASingleRankIsNothing) {
  run_ranks(1, [](Comm& comm) {
    reduce(comm, 3, 11, true);
    comm.barrier();
    EXPECT_EQ(comm.total_traffic().calls, 2u);
    EXPECT_EQ(comm.total_traffic().bytes_sent, 0u);
    EXPECT_EQ(comm.total_traffic().bytes_received, 0u);
  });
}

}  // namespace
}  // namespace convoy
