// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/shared_segment.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/range.h"
#include "convoy/comm/async_comm.h"

namespace convoy {
namespace {

constexpr std::uint64_t kMagic = 0x3130796f766e6f63;  // "convoy01"
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
/// With this size a pipe fits into the cache that cores share.
constexpr std::size_t kSlotBytes = std::size_t{64} << 10;
/// The smallest slot holds one number of each partial that a rank can have.
constexpr std::size_t kLeastSlotBytes = AsyncComm::kMostPartials * sizeof(float);
constexpr std::size_t kCacheLine = 64;

/// How often a wait polls before it sleeps: below a microsecond, for an answer that is
/// being written. With as many ranks as cores, polling longer takes the core from the
/// rank that is waited for, and was measured to be slower.
constexpr int kLooks = 30;
/// How long a sleep lasts before the wait checks whether the other ranks are alive.
constexpr std::chrono::milliseconds kSleep{50};

bool reached(std::uint32_t value, std::uint32_t target) {
  return static_cast<std::int32_t>(value - target) >= 0;
}

void pause() { __builtin_ia32_pause(); }

void wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

[[noreturn]] void refuse_segment(const std::string& attempted) {
  throw storage_error("shared memory", attempted, errno);
}

std::size_t pipes(int ranks) { return static_cast<std::size_t>(ranks) * ranks; }

std::size_t slot_bytes_for(int ranks) {
  const std::size_t fair = kMostBytes / (pipes(ranks) * SharedSegment::kSlots);
  return std::clamp(fair / kCacheLine * kCacheLine, kLeastSlotBytes, kSlotBytes);
}

std::size_t counters_offset() { return kPage; }

std::size_t slots_offset(int ranks) {
  return counters_offset() + round_up(pipes(ranks) * 2 * sizeof(SharedCounter), kPage);
}

std::size_t size_for(int ranks) {
  return slots_offset(ranks) +
         round_up(pipes(ranks) * SharedSegment::kSlots * slot_bytes_for(ranks), kPage);
}

}  // namespace

/// Zero-initialized.
struct SharedSegment::Head {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint32_t> ranks;
  std::atomic<std::uint32_t> lost;  // one more than the rank that was lost first
  std::atomic<std::uint32_t> left[kMostRanks];
};

SharedSegment::SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout)
    : rank_(rank),
      ranks_(ranks),
      timeout_(timeout),
      slot_bytes_(slot_bytes_for(ranks)),
      memory_(size_for(ranks)) {
  check(ranks <= kMostRanks, "ranks <= kMostRanks");
  head().ranks = static_cast<std::uint32_t>(ranks);
  head().magic = kMagic;
}

SharedSegment::SharedSegment(int rank, int ranks, std::chrono::milliseconds timeout,
                             const MemoryPlace& place)
    : rank_(rank),
      ranks_(ranks),
      timeout_(timeout),
      slot_bytes_(slot_bytes_for(ranks)),
      memory_(place, size_for(ranks)) {
  check(ranks <= kMostRanks, "ranks <= kMostRanks");
  if (head().magic == kMagic && head().ranks == static_cast<std::uint32_t>(ranks)) return;
  errno = EINVAL;
  refuse_segment("find a segment for this number of ranks");
}

/// Wakes the other ranks, which may wait for a counter of this rank.
SharedSegment::~SharedSegment() {
  left(rank_).store(1);
  for (int peer = 0; peer < ranks_; ++peer) {
    wake(posted(rank_, peer).value);
    wake(taken(peer, rank_).value);
  }
}

void SharedSegment::watch(const std::vector<int>& processes) {
  processes_.resize(processes.size());
  for (std::size_t r = 0; r < processes.size(); ++r) {
    if (processes[r] == ::getpid()) continue;
    const auto number = ::syscall(SYS_pidfd_open, processes[r], 0);
    if (number < 0 && errno == ESRCH) lose(static_cast<int>(r), "its process has ended");
    if (number < 0) refuse_segment(fmt::format("watch process {}", processes[r]));
    processes_[r] = Descriptor(static_cast<int>(number));
  }
}

SharedSegment::Head& SharedSegment::head() const {
  static_assert(sizeof(Head) <= kPage);
  return *reinterpret_cast<Head*>(memory_.data());
}

std::atomic<std::uint32_t>& SharedSegment::left(int rank) const {
  return head().left[rank];
}

std::size_t SharedSegment::pipe_number(int writer, int reader) const {
  return static_cast<std::size_t>(writer) * static_cast<std::size_t>(ranks_) +
         static_cast<std::size_t>(reader);
}

SharedCounter& SharedSegment::posted(int writer, int reader) const {
  auto* counters = reinterpret_cast<SharedCounter*>(memory_.data() + counters_offset());
  return counters[2 * pipe_number(writer, reader)];
}

SharedCounter& SharedSegment::taken(int writer, int reader) const {
  auto* counters = reinterpret_cast<SharedCounter*>(memory_.data() + counters_offset());
  return counters[2 * pipe_number(writer, reader) + 1];
}

std::size_t SharedSegment::slot_bytes_of(int ranks) { return slot_bytes_for(ranks); }

std::byte* SharedSegment::slots(int writer, int reader) const {
  return memory_.data() + slots_offset(ranks_) +
         pipe_number(writer, reader) * kSlots * slot_bytes_;
}

/// Either this rank sees that the other sleeps, or the other sees the new value before it
/// sleeps: that requires sequential consistency of all four accesses.
void SharedSegment::advance(SharedCounter& counter, std::uint32_t value) {
  counter.value.store(value, std::memory_order_seq_cst);
  if (counter.sleeper.load(std::memory_order_seq_cst) != 0) wake(counter.value);
}

void SharedSegment::wait(SharedCounter& counter, std::uint32_t value, int peer) const {
  for (int look = 0; look < kLooks; ++look) {
    if (reached(counter.value.load(std::memory_order_acquire), value)) return;
    pause();
  }
  const Stopwatch watch;
  while (true) {
    counter.sleeper.store(1, std::memory_order_seq_cst);
    const std::uint32_t seen = counter.value.load(std::memory_order_seq_cst);
    if (!reached(seen, value)) sleep(counter, seen);
    counter.sleeper.store(0, std::memory_order_relaxed);
    if (reached(counter.value.load(std::memory_order_acquire), value)) return;
    require_all_alive(peer);
    if (watch.seconds() * 1000 >= static_cast<double>(timeout_.count())) {
      lose(peer, fmt::format("no answer within {} s",
                             static_cast<double>(timeout_.count()) / 1000));
    }
  }
}

/// Sleeps until the counter has changed, a rank has left, or the timeout.
void SharedSegment::sleep(SharedCounter& counter, std::uint32_t seen) const {
  const auto nanoseconds = std::chrono::nanoseconds(std::min(kSleep, timeout_)).count();
  const timespec limit{.tv_sec = 0, .tv_nsec = nanoseconds};
  ::syscall(SYS_futex, &counter.value, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

/// If a rank was lost before another left, that loss is the reason why the other left.
void SharedSegment::require_all_alive(int peer) const {
  if (const std::uint32_t lost = head().lost) {
    const int rank = static_cast<int>(lost) - 1;
    if (rank != rank_) lose(rank, "lost, as another rank reports");
  }
  if (const int rank = ended_process(); rank >= 0) lose(rank, "its process has ended");
  if (left(peer).load() != 0) lose(peer, "has left");
}

/// Returns the first rank whose process has ended, or -1. One system call asks about all.
int SharedSegment::ended_process() const {
  std::array<pollfd, kMostRanks> asked{};
  for (std::size_t r = 0; r < processes_.size(); ++r) {
    asked[r] = {processes_[r].get(), POLLIN, 0};
  }
  if (::poll(asked.data(), processes_.size(), 0) <= 0) return -1;
  const auto has_ended = [](const pollfd& one) { return one.revents != 0; };
  return static_cast<int>(std::ranges::find_if(asked, has_ended) - asked.begin());
}

/// Tells all ranks which one was lost, unless an earlier loss is already known.
void SharedSegment::announce_lost(int rank) const {
  std::uint32_t nobody = 0;
  if (rank >= 0) {
    head().lost.compare_exchange_strong(nobody, static_cast<std::uint32_t>(rank) + 1);
  }
}

void SharedSegment::lose(int rank, const std::string& how) const {
  announce_lost(rank);
  throw PeerError(rank, fmt::format("{}, in {}", how, name_of(operation_)));
}

}  // namespace convoy
