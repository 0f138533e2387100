// SPDX-License-Identifier: Apache-2.0
//
// SharedSegment: the memory that the ranks of one machine share, with waiting and waking.
//
//   | head | left, by rank | two counters per pipe | slots of pipe 0->1 | of 0->2 | ...
//
// The first rank creates it, the others open it. There is a pipe from every rank to every
// other (SharedPipe). A rank that waits polls a few times, then sleeps until it is woken,
// and checks from time to time whether the others are alive.

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

/// A counter that one rank advances and one other rank waits for.
struct alignas(64) SharedCounter {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> sleeper;  // 1 while the other rank sleeps
};

class SharedSegment {
 public:
  static constexpr std::uint32_t kSlots = 16;  // per pipe
  static constexpr int kMostRanks = 256;

  /// Creates a segment. Throws InputError (storage) if the system refuses the memory.
  SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout);
  /// Opens the segment that rank 0 created. Throws InputError (storage).
  SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout,
                const MemoryPlace& place);
  /// Tells the other ranks that this rank has left.
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  /// How the other ranks find the segment. Valid while the rank that created it holds it.
  MemoryPlace place() const { return memory_.place(); }

  /// Sets the processes of the ranks, by rank, to detect the death of one. Throws
  /// PeerError that names a process that is already dead.
  void watch(const std::vector<int>& processes);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  /// The same, of a job with that many ranks.
  static std::size_t slot_bytes_of(int ranks);
  void begin(Operation operation) { operation_ = operation; }

  /// Returns the counters and slots of the pipe between two ranks.
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
