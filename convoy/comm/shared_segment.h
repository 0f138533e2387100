// SPDX-License-Identifier: Apache-2.0
//
// SharedSegment: memory that the ranks of one machine share, and how they wait for each
// other in it.
//
//   | head | left, by rank | two counters a pipe | slots of pipe 0 to 1 | of 0 to 2 | ...
//
// The first rank makes it, the others open it. There is a pipe from every rank to every
// other (SharedPipe). A rank that waits checks a few times, then sleeps until it is
// woken, and checks from time to time whether the others are alive.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/comm.h"
#include "convoy/comm/shared_memory.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// Counts up, written by one rank and waited for by one other.
struct alignas(64) SharedCounter {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> sleeper;  // 1 while the other sleeps
};

class SharedSegment {
 public:
  static constexpr std::uint32_t kSlots = 16;  // of a pipe
  static constexpr int kMostRanks = 256;

  /// Makes one. Throws InputError (storage) if the system refuses the memory.
  SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout);
  /// Opens the one that rank 0 made. Throws InputError (storage).
  SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout,
                const MemoryPlace& place);
  /// Tells the others that this rank has left.
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  /// How the other ranks find it. Valid while the rank that made it holds it.
  MemoryPlace place() const { return memory_.place(); }

  /// The processes of the ranks, to notice the death of one. By rank.
  /// Throws PeerError that names one which is dead already.
  void watch(const std::vector<int>& processes);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  void begin(Operation operation) { operation_ = operation; }

  /// Counters and slots of the pipe between two ranks.
  SharedCounter& posted(int writer, int reader) const;
  SharedCounter& taken(int writer, int reader) const;
  std::byte* slots(int writer, int reader) const;

  /// Sets a counter that another rank waits for.
  static void advance(SharedCounter& counter, std::uint32_t value);

  /// Waits until `peer` has advanced the counter to `value`. Throws PeerError.
  void wait(SharedCounter& counter, std::uint32_t value, int peer) const;

 private:
  struct Head;

  Head& head() const;
  std::size_t pipe_number(int writer, int reader) const;
  std::atomic<std::uint32_t>& left(int rank) const;
  void sleep(SharedCounter& counter, std::uint32_t seen) const;
  void require_all_alive(int peer) const;
  int ended_process() const;
  void announce_lost(int rank) const;
  [[noreturn]] void lose(int rank, const std::string& how) const;

  int rank_, ranks_;
  std::chrono::milliseconds timeout_;
  Operation operation_ = Operation::barrier;
  std::size_t slot_bytes_;
  SharedMemory memory_;
  std::vector<Descriptor> processes_;  // by rank; open where it is another process
};

}  // namespace convoy
