// SPDX-License-Identifier: Apache-2.0
//
// A rank that leaves, dies, falls silent or never comes has a name, and the others end.

#include <gmock/gmock.h>

#include <csignal>

#include "convoy/base/clock.h"
#include "tests/comm/microbatch_sums.h"
#include "tests/comm/process_ranks.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr int kNone = -1;

/// The rank that a thrown PeerError names.
int named(const std::exception_ptr& error) {
  if (!error) return kNone;
  try {
    std::rethrow_exception(error);
  } catch (const PeerError& peer) {
    return peer.rank();
  }
}

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& any) {
    return any.what();
  }
}

void reduce_once(Comm& comm, std::size_t size = 100000) {
  const ReductionOrder order(static_cast<std::size_t>(comm.ranks()), comm.ranks());
  std::vector<float> whole(size, 1);
  const float* partial = whole.data();
  comm.all_reduce(order, {&partial, 1}, whole);
}

void reduce_for_ever(Comm& comm) {
  for (;;) reduce_once(comm);
}

class LostRank : public testing::TestWithParam<Transport> {};

TEST_P(LostRank, IsNamedByAllWhenItLeaves) {
  const Stopwatch watch;
  const auto thrown = try_ranks(
      4,
      [](Comm& comm) {
        reduce_once(comm);
        if (comm.rank() != 2) reduce_for_ever(comm);
      },
      GetParam());

  EXPECT_LT(watch.seconds(), 10) << "far below the timeout";
  for (const int rank : {0, 1, 3}) {
    EXPECT_EQ(named(thrown[static_cast<std::size_t>(rank)]), 2) << rank;
  }
  EXPECT_EQ(named(thrown[2]), kNone);
  EXPECT_THAT(message_of(thrown[0]), HasSubstr("all_reduce"));
}

TEST_P(LostRank, IsNamedBehindTheOneThatWaitedForIt) {
  const auto thrown = try_ranks(
      3,
      [](Comm& comm) {
        std::byte byte{};
        comm.barrier();
        if (comm.rank() < 2) comm.broadcast({&byte, 1}, comm.rank() + 1);
      },
      GetParam());

  EXPECT_EQ(named(thrown[1]), 2);
  EXPECT_EQ(named(thrown[0]), 2);
}

TEST_P(LostRank, IsNamedWhenItsBodyThrows) {
  EXPECT_THROW(run_ranks(
                   2,
                   [](Comm& comm) {
                     if (comm.rank() == 1) throw std::out_of_range("mine");
                     comm.barrier();
                   },
                   GetParam()),
               std::out_of_range);
}

TEST_P(LostRank, IsNamedAfterTheTimeoutWhenItIsSilent) {
  const auto timeout = 700ms;
  std::array<double, 3> seconds{};
  const auto thrown = try_ranks(
      3,
      [&](Comm& comm) {
        comm.barrier();
        const Stopwatch watch;
        if (comm.rank() == 1) return std::this_thread::sleep_for(timeout * 4);
        try {
          reduce_for_ever(comm);
        } catch (...) {
          seconds[static_cast<std::size_t>(comm.rank())] = watch.seconds();
          throw;
        }
      },
      GetParam(), timeout);

  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(named(thrown[rank]), 1);
    EXPECT_GT(seconds[rank], 0.6);
    EXPECT_LT(seconds[rank], 0.7 + 1.9);
  }
  const std::string both = message_of(thrown[0]) + message_of(thrown[2]);
  EXPECT_THAT(both, HasSubstr("no answer within 0.7 s"));
}

TEST_P(LostRank, IsNamedWhenItNeverComes) {
  MemoryStore store;
  try {
    connect({.rank = 0, .ranks = 2, .timeout = 300ms, .transport = GetParam()}, store);
    FAIL() << "there is no rank 1";
  } catch (const PeerError& error) {
    EXPECT_EQ(error.rank(), 1);
  }
}

TEST_P(LostRank, IsNamedByAllWhenItIsKilled) {
  ProcessRanks ranks(4, {.transport = GetParam()}, reduce_for_ever);
  for (int rank = 0; rank < 4; ++rank) ASSERT_TRUE(ranks.wait_until_begun(rank));

  ranks.send(2, SIGKILL);

  const Stopwatch watch;
  for (const int rank : {0, 1, 3}) EXPECT_EQ(ranks.named_by(rank), 2) << rank;
  EXPECT_LT(watch.seconds(), 5);
  EXPECT_EQ(ranks.named_by(2), ProcessRanks::kKilled);
}

TEST_P(LostRank, IsNamedWhenKilledWhileTheOthersWaitForIt) {
  ProcessRanks ranks(3, {.transport = GetParam()}, [](Comm& comm) {
    if (comm.rank() == 1) ::pause();
    comm.barrier();
  });
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(ranks.wait_until_begun(rank));
  std::this_thread::sleep_for(200ms);

  ranks.send(1, SIGKILL);

  for (const int rank : {0, 2}) EXPECT_EQ(ranks.named_by(rank, 5), 1) << rank;
}

TEST_P(LostRank, IsNamedAfterTheTimeoutWhenItIsStopped) {
  ProcessRanks ranks(3, {.timeout = 700ms, .transport = GetParam()}, reduce_for_ever);
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(ranks.wait_until_begun(rank));

  ranks.send(0, SIGSTOP);

  for (const int rank : {1, 2}) EXPECT_EQ(ranks.named_by(rank, 5), 0) << rank;
}

INSTANTIATE_TEST_SUITE_P(All, LostRank,
                         testing::Values(Transport::tcp, Transport::shared),
                         [](const auto& info) {
                           return info.param == Transport::tcp ? "Tcp" : "Shared";
                         });

TEST(ProcessRanks, EndAsTheyShouldWhenNobodyIsLost) {
  for (const Transport transport : {Transport::tcp, Transport::shared}) {
    ProcessRanks ranks(3, {.transport = transport}, [](Comm& comm) {
      for (int i = 0; i < 20; ++i) reduce_once(comm, 300000);
      comm.barrier();
    });
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(ranks.named_by(rank), ProcessRanks::kDone);
    }
  }
}

}  // namespace
}  // namespace convoy
