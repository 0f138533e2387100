// SPDX-License-Identifier: Apache-2.0
//
// AsyncComm: collective operations in the background, by one thread, in call order.
//
//   const AsyncComm::Ticket ticket = async.start_all_reduce(order, partials, gradients);
//   ... compute ...
//   async.wait(ticket);
//
// All ranks start the same operations in the same order. The arguments of an operation
// must stay alive and unchanged until a wait for it has returned. The Comm may be used
// directly while no operation is running. Steady use allocates nothing. With a single
// rank there is no thread: operations are done when they are started.

#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "convoy/comm/comm.h"

namespace convoy {

class AsyncComm {
 public:
  /// Identifies a started operation.
  struct Ticket {
    std::uint64_t number = 0;
  };

  /// The maximum number of partials per rank, and of queued operations; starting one more
  /// waits.
  static constexpr std::size_t kMostPartials = 64, kMostJobs = 64;

  /// Borrows the Comm for as long as it lives.
  explicit AsyncComm(Comm& comm);
  /// Waits for the running operation; queued operations are dropped.
  ~AsyncComm();
  AsyncComm(const AsyncComm&) = delete;
  AsyncComm& operator=(const AsyncComm&) = delete;

  /// `order` and `parts` are borrowed; the pointers in `partials` are copied.
  Ticket start_all_reduce(const ReductionSum& order,
                          std::span<const float* const> partials, std::span<float> whole,
                          Dtype dtype = Dtype::fp32);
  Ticket start_reduce_scatter(const ReductionSum& order,
                              std::span<const float* const> partials,
                              std::span<float> whole, RankParts parts = {},
                              Dtype dtype = Dtype::fp32);
  Ticket start_all_gather_parts(std::span<float> whole, RankParts parts = {});

  /// Returns when the operation is done. Throws the PeerError of this or an earlier
  /// operation.
  void wait(Ticket ticket);
  /// Waits for all started operations.
  void wait_all();
  /// As wait_all(), but throws nothing: for owners of what operations borrow, before they
  /// end.
  void drain() noexcept;

  /// How long callers have waited: communication that computation did not hide. The time
  /// inside operations is in the Comm's traffic.
  double exposed_seconds() const;

 private:
  enum class Kind { all_reduce, reduce_scatter, all_gather_parts };

  struct Job {
    Kind kind = Kind::all_reduce;
    const ReductionSum* order = nullptr;
    std::array<const float*, kMostPartials> partials{};
    std::size_t partial_count = 0;
    std::span<float> whole{};
    RankParts parts{};
    Dtype dtype = Dtype::fp32;
  };

  Ticket start_reduction(Kind kind, const ReductionSum& order,
                         std::span<const float* const> partials, std::span<float> whole,
                         RankParts parts, Dtype dtype);
  template <class Fill>
  Ticket start(const Fill& fill);
  template <class Fill>
  Ticket do_now(const Fill& fill);
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, const Condition& holds);
  void serve();
  void run(const Job& job);

  Comm& comm_;
  mutable std::mutex mutex_;
  std::condition_variable started_one_, finished_one_;
  std::array<Job, kMostJobs> jobs_{};         // ring buffer, by operation number
  std::uint64_t started_ = 0, finished_ = 0;  // operations so far
  std::uint64_t failed_ = 0;  // number of the first failed operation; 0: none
  std::exception_ptr failure_;
  double exposed_seconds_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace convoy
