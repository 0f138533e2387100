// SPDX-License-Identifier: Apache-2.0
//
// run_ranks: the ranks of a job as threads of the test.
//
//   run_ranks(4, [&](Comm& comm) { comm.barrier(); });
//
// Each thread has a Comm of its own, connected to the others over loopback or through
// shared memory. A rank that throws closes its Comm, so the others do not wait for it;
// the first exception (not the PeerErrors that follow from it) is thrown on.

#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "tests/rendezvous/memory_store.h"

namespace convoy {

inline constexpr std::chrono::milliseconds kTestTimeout{20000};

using RankBody = std::function<void(Comm&)>;

/// What each rank's body threw, or null.
inline std::vector<std::exception_ptr> try_ranks(
    int ranks, const RankBody& body, Transport transport = Transport::tcp,
    std::chrono::milliseconds timeout = kTestTimeout) {
  MemoryStore store;
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  const auto run = [&](int rank) {
    try {
      const std::unique_ptr<Comm> comm = connect(
          {.rank = rank, .ranks = ranks, .timeout = timeout, .transport = transport},
          store);
      body(*comm);
    } catch (...) {
      thrown[static_cast<std::size_t>(rank)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

inline bool is_peer_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerError&) {
    return true;
  } catch (...) {
    return false;
  }
}

inline void run_ranks(int ranks, const RankBody& body,
                      Transport transport = Transport::tcp,
                      std::chrono::milliseconds timeout = kTestTimeout) {
  std::exception_ptr first;
  for (const std::exception_ptr& error : try_ranks(ranks, body, transport, timeout)) {
    if (error && (!first || (is_peer_error(first) && !is_peer_error(error)))) {
      first = error;
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace convoy
