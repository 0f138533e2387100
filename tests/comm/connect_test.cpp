// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/connect.h"

#include <gmock/gmock.h>

#include <atomic>

#include "convoy/comm/alone_comm.h"
#include "convoy/comm/async_comm.h"
#include "convoy/comm/gloo_comm.h"
#include "convoy/comm/shared_comm.h"
#include "tests/allocation_count.h"
#include "tests/comm/thread_ranks.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A store that changes what is read under keys that contain a text.
class ForgingStore final : public KeyValueStore {
 public:
  ForgingStore(KeyValueStore& store, std::string where)
      : store_(store), where_(std::move(where)) {}

  void set(const std::string& key, std::span<const std::byte> value) override {
    store_.set(key, value);
  }
  std::vector<std::byte> get(const std::string& key,
                             std::chrono::milliseconds timeout) override {
    std::vector<std::byte> value = store_.get(key, timeout);
    if (key.find(where_) != std::string::npos) value[0] ^= std::byte{1};
    return value;
  }

 private:
  KeyValueStore& store_;
  std::string where_;
};

/// What rank 1 says if what it reads is forged; rank 0 reads the truth.
std::exception_ptr error_with_forged(const std::string& where, Transport transport) {
  MemoryStore store;
  ForgingStore forging(store, where);
  const CommOptions options{.ranks = 2, .timeout = 2000ms, .transport = transport};
  const auto join = [&](int rank, KeyValueStore& its_store) -> std::exception_ptr {
    CommOptions own = options;
    own.rank = rank;
    try {
      connect(own, its_store)->barrier();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  };
  std::thread first([&] { join(0, store); });
  const std::exception_ptr error = join(1, forging);
  first.join();
  return error;
}

std::string text_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& any) {
    return any.what();
  }
  return "";
}

TEST(Connect, GivesOneRankAnAloneComm) {
  MemoryStore empty;
  const auto comm = connect({}, empty);

  EXPECT_NE(dynamic_cast<AloneComm*>(comm.get()), nullptr);
}

TEST(Connect, ChoosesSharedMemoryOnOneMachine) {
  run_ranks(
      3,
      [](Comm& comm) {
        EXPECT_NE(dynamic_cast<SharedComm*>(&comm), nullptr);
        comm.barrier();
      },
      Transport::automatic);
}

TEST(Connect, ChoosesTcpWhenAskedTo) {
  run_ranks(
      2,
      [](Comm& comm) {
        EXPECT_NE(dynamic_cast<GlooComm*>(&comm), nullptr);
        comm.barrier();
      },
      Transport::tcp);
}

/// Rank 1 seems to be on another machine, to itself and to the others.
TEST(Connect, ChoosesTcpBetweenMachines) {
  MemoryStore store;
  std::atomic<int> over_tcp{0};
  const auto join = [&](int rank) {
    ForgingStore forging(store, "machine/1");
    const auto comm = connect({.rank = rank, .ranks = 3, .timeout = 20s}, forging);
    if (dynamic_cast<GlooComm*>(comm.get()) != nullptr) ++over_tcp;
    comm->barrier();
  };
  std::thread first(join, 0), second(join, 1);
  join(2);
  first.join();
  second.join();

  EXPECT_EQ(over_tcp, 3);
}

TEST(Connect, ChoosesTcpWhenOneCannotShareMemory) {
  MemoryStore store;
  std::atomic<int> over_tcp{0};
  const auto join = [&](int rank) {
    ForgingStore forging(store, rank == 1 ? "segment/0" : "nothing");
    const auto comm = connect({.rank = rank, .ranks = 2, .timeout = 20s}, forging);
    if (dynamic_cast<GlooComm*>(comm.get()) != nullptr) ++over_tcp;
    comm->barrier();
  };
  std::thread first(join, 0);
  join(1);
  first.join();

  EXPECT_EQ(over_tcp, 2);
}

TEST(Connect, RefusesSharedMemoryBetweenMachines) {
  EXPECT_THAT(text_of(error_with_forged("machine/0", Transport::shared)),
              HasSubstr("is on another machine than rank 0"));
}

TEST(Connect, LetsNobodyInWhoDoesNotKnowTheSecret) {
  EXPECT_THAT(text_of(error_with_forged("address/0", Transport::tcp)),
              HasSubstr("rank 0: another process answered at its address"));
}

TEST(Connect, NamesAnAddressThatIsNotOfThisMachine) {
  MemoryStore store;
  try {
    connect({.rank = 0, .ranks = 2, .address = "192.0.2.1", .transport = Transport::tcp},
            store);
    FAIL() << "that address is nobody's";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("192.0.2.1"));
  }
}

TEST(Connect, KeepsSeveralCommsOfOneStoreApart) {
  MemoryStore store;
  const auto join = [&](int rank) {
    const auto one =
        connect({.rank = rank, .ranks = 2, .timeout = 20s, .name = "one"}, store);
    const auto two =
        connect({.rank = rank, .ranks = 2, .timeout = 20s, .name = "two"}, store);
    for (int i = 0; i < 3; ++i) {
      auto from_first = static_cast<std::byte>(rank), from_second = from_first;
      one->broadcast({&from_first, 1}, 0);
      two->broadcast({&from_second, 1}, 1);
      EXPECT_EQ(from_first, std::byte{0});
      EXPECT_EQ(from_second, std::byte{1});
    }
    one->barrier();
  };
  std::thread first(join, 0);
  join(1);
  first.join();
}

TEST(SharedComm, AllocatesNothingInSteadyUse) {
  run_ranks(
      2,
      [](Comm& comm) {
        AsyncComm async(comm);
        const ReductionOrder order(4, 2);
        std::vector<float> whole(300001);
        const float* partial = whole.data();
        std::vector<std::byte> all(2000);
        const auto step = [&] {
          async.start_all_reduce(order, {&partial, 1}, whole);
          async.start_all_gather_parts(whole);
          async.wait_all();
          comm.broadcast(all, 0);
          comm.all_gather(std::span(all).first(1000), all);
          comm.barrier();
        };
        step();
        const long before = allocation_count();
        for (int i = 0; i < 5; ++i) step();
        EXPECT_EQ(allocation_count() - before, 0);
        comm.barrier();
      },
      Transport::shared);
}

}  // namespace
}  // namespace convoy
