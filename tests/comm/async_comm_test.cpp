// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/async_comm.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/comm/microbatch_sums.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kCount = 10007;

TEST(AsyncComm, ServesManyOperationsInCallOrder) {
  run_ranks(
      3,
      [&](Comm& comm) {
        AsyncComm async(comm);
        const ReductionOrder order(3, 3);
        const std::size_t jobs = 3 * AsyncComm::kMostJobs;
        std::vector<std::vector<float>> wholes(
            jobs, partials_of_rank(order, comm.rank(), kCount)[0]);
        std::vector<AsyncComm::Ticket> tickets;
        for (auto& whole : wholes) {
          const float* partial = whole.data();
          tickets.push_back(async.start_all_reduce(order, {&partial, 1}, whole));
        }

        for (std::size_t i = jobs; i-- > 0;) async.wait(tickets[i]);

        for (const auto& whole : wholes) {
          ASSERT_TRUE(same_bits(whole, tree_sum({0, 3}, kCount)));
        }
        EXPECT_EQ(comm.traffic(Operation::all_reduce).calls, jobs);
      },
      Transport::shared);
}

TEST(AsyncComm, KnowsEveryKindOfOperation) {
  run_ranks(2, [&](Comm& comm) {
    AsyncComm async(comm);
    const ReductionOrder order(2, 2);
    std::vector<float> whole = partials_of_rank(order, comm.rank(), kCount)[0];
    const float* partial = whole.data();

    async.start_reduce_scatter(order, {&partial, 1}, whole);
    async.start_all_gather_parts(whole);
    async.wait_all();

    EXPECT_TRUE(same_bits(whole, tree_sum({0, 2}, kCount)));
  });
}

TEST(AsyncComm, CountsTimeWaitedApart) {
  run_ranks(2, [&](Comm& comm) {
    AsyncComm async(comm);
    std::vector<float> whole(2);
    if (comm.rank() == 0) std::this_thread::sleep_for(100ms);
    const auto hidden = async.start_all_gather_parts(whole);
    std::this_thread::sleep_for(700ms);
    async.wait(hidden);
    EXPECT_LT(async.exposed_seconds(), 0.2);

    comm.barrier();
    if (comm.rank() == 0) std::this_thread::sleep_for(600ms);
    async.wait(async.start_all_gather_parts(whole));
    EXPECT_GE(async.exposed_seconds(), comm.rank() == 1 ? 0.3 : 0.0);
    EXPECT_GE(comm.traffic(Operation::all_gather).seconds, async.exposed_seconds() * 0.9);
  });
}

TEST(AsyncComm, ThrowsFromTheWaitWhatEndedAnOperation) {
  run_ranks(2, [&](Comm& comm) {
    std::vector<float> whole(2);
    if (comm.rank() == 1) return comm.all_gather_parts(whole);
    AsyncComm async(comm);
    const auto good = async.start_all_gather_parts(whole);
    const auto bad = async.start_all_gather_parts(whole);
    const auto after = async.start_all_gather_parts(whole);

    EXPECT_NO_THROW(async.wait(good));
    for (const auto ticket : {bad, after, bad}) {
      try {
        async.wait(ticket);
        FAIL() << "rank 1 has left";
      } catch (const PeerError& error) {
        EXPECT_EQ(error.rank(), 1);
      }
    }
    EXPECT_NO_THROW(async.wait(good));
  });
}

TEST(AsyncComm, DropsWhatWasNotBegun) {
  run_ranks(2, [&](Comm& comm) {
    std::byte byte{};
    const AsyncComm async(comm);
    comm.broadcast({&byte, 1}, 0);
  });
}

}  // namespace
}  // namespace convoy
