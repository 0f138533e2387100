// SPDX-License-Identifier: Apache-2.0
//
// Somebody who is no rank comes to every port that ranks open while they connect.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>

#include "convoy/system/descriptor.h"
#include "tests/comm/listening_ports.h"
#include "tests/comm/microbatch_sums.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;

enum class Manner { closes, resets, sends_noise, sends_a_false_hello, stays_silent };

Descriptor connected_to(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
    socket.reset();
  }
  return socket;
}

void say(const Descriptor& socket, const std::string& text) {
  ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

/// Connects to whatever port the process has open, for as long as it lives.
class Intruder {
 public:
  explicit Intruder(Manner manner) : manner_(manner), thread_([this] { run(); }) {}
  ~Intruder() {
    leaving_ = true;
    thread_.join();
  }

  int visits() const { return visits_; }

 private:
  void run() {
    while (!leaving_) {
      for (const int port : listening_ports()) {
        Descriptor socket = connected_to(port);
        if (!socket) continue;
        behave(socket);
        ++visits_;
      }
    }
  }

  void behave(Descriptor& socket) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    switch (manner_) {
      case Manner::closes:
        return;
      case Manner::resets:
        ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        return;
      case Manner::sends_noise:
        return say(socket, std::string(5000, '\1'));
      case Manner::sends_a_false_hello:
        return say(socket, "       2       0" + std::string(64, 'a'));
      case Manner::stays_silent:
        silent_.push_back(std::move(socket));
        if (silent_.size() > 300) silent_.clear();
        return;
    }
  }

  Manner manner_;
  std::vector<Descriptor> silent_;
  std::atomic<bool> leaving_{false};
  std::atomic<int> visits_{0};
  std::thread thread_;
};

class Strangers : public testing::TestWithParam<Manner> {};

/// The last rank comes when the stranger has been at the others' ports many times.
void connect_and_reduce(int rank, int ranks, KeyValueStore& store,
                        const Intruder& intruder) {
  while (rank == ranks - 1 && intruder.visits() < 30) std::this_thread::sleep_for(1ms);
  const auto comm = connect(
      {.rank = rank, .ranks = ranks, .timeout = 20s, .transport = Transport::tcp}, store);
  const ReductionOrder order(static_cast<std::size_t>(ranks), ranks);
  std::vector<float> whole = partials_of_rank(order, rank, 1001)[0];
  const float* partial = whole.data();
  comm->all_reduce(order, {&partial, 1}, whole);
  EXPECT_TRUE(same_bits(whole, tree_sum({0, static_cast<std::size_t>(ranks)}, 1001)));
  comm->barrier();
}

TEST_P(Strangers, AreNotLetInAndDoNotEndTheJob) {
  constexpr int kRanks = 3;
  for (int round = 0; round < 4; ++round) {
    MemoryStore store;
    const Intruder intruder(GetParam());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        EXPECT_NO_THROW(connect_and_reduce(rank, kRanks, store, intruder));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

std::string name_of_manner(const testing::TestParamInfo<Manner>& info) {
  constexpr const char* kNames[] = {"WhoClose", "WhoReset", "WhoSendNoise",
                                    "WithAFalseHello", "WhoAreSilent"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, Strangers,
                         testing::Values(Manner::closes, Manner::resets,
                                         Manner::sends_noise, Manner::sends_a_false_hello,
                                         Manner::stays_silent),
                         name_of_manner);

TEST(OneMachine, HasNoPortOpen) {
  const std::set<int> before = listening_ports();
  run_ranks(
      3,
      [&](Comm& comm) {
        comm.barrier();
        EXPECT_EQ(listening_ports(), before);
        comm.barrier();
      },
      Transport::automatic);
}

/// The ports of this one are closed when all are connected.
TEST(SeveralMachines, HaveNoPortOpenOnceAllAreConnected) {
  const std::set<int> before = listening_ports();
  run_ranks(
      3,
      [&](Comm& comm) {
        comm.barrier();
        EXPECT_EQ(listening_ports(), before);
        comm.barrier();
      },
      Transport::tcp);
}

TEST(OneMachine, HoldsManyRanks) {
  constexpr int kRanks = 100;
  constexpr std::size_t kSize = 1501;
  const std::vector<float> expected = tree_sum({0, kRanks}, kSize);
  run_ranks(
      kRanks,
      [&](Comm& comm) {
        const ReductionOrder order(kRanks, kRanks);
        std::vector<float> whole = partials_of_rank(order, comm.rank(), kSize)[0];
        const float* partial = whole.data();
        comm.all_reduce(order, {&partial, 1}, whole);
        EXPECT_TRUE(same_bits(whole, expected));
        comm.barrier();
      },
      Transport::shared, 60s);
}

}  // namespace
}  // namespace convoy
