// SPDX-License-Identifier: Apache-2.0
//
// Comm: the collective operations between the ranks of a job.
//
//   comm.all_reduce(order, partials, gradients);
//
// All ranks call the same collective operations in the same order, from one thread at a
// time (AsyncComm has a thread for that). No wait for another rank lasts longer than the
// timeout: when it expires, or as soon as a rank is known to be gone, PeerError names
// that rank, and the Comm cannot be used any more. A rank that fails should destroy its
// Comm, so that others fail at once. Through shared memory, steady use allocates nothing;
// over TCP, Gloo allocates for every message. Sums are added in the order of the
// reduction tree, so they have the same bits on any number of ranks.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/comm/reduction_order.h"
#include "convoy/comm/reduction_sum.h"

namespace convoy {

enum class Operation {
  broadcast,
  gather,
  scatter,
  all_gather,
  reduce_scatter,
  all_reduce,
  barrier
};
inline constexpr std::size_t kOperations = 7;

/// Returns a name such as "all_reduce".
std::string_view name_of(Operation operation);

/// How an operation divides its numbers over ranks: one range per rank, in elements. No
/// ranges: nearly equal parts in rank order (even_part).
using RankParts = std::span<const Range>;

/// The cost of one operation's calls on this rank so far.
struct Traffic {
  std::uint64_t calls = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;  // payload, to and from other ranks
  double seconds = 0;                                // spent in calls

  Traffic& operator+=(const Traffic& other);
};

/// Returns the part of a rank, of `count` elements.
inline Range part_of_rank(RankParts parts, int rank, int ranks, std::size_t count) {
  const auto r = static_cast<std::size_t>(rank);
  return parts.empty() ? even_part(count, static_cast<std::size_t>(ranks), r) : parts[r];
}

class Comm {
 public:
  Comm(int rank, int ranks);
  virtual ~Comm() = default;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool is_first() const { return rank_ == 0; }

  void broadcast(std::span<std::byte> bytes, int root);
  /// On the root, `all` receives the data of all ranks, in rank order; elsewhere it is
  /// empty. `sizes` has the bytes per rank and is the same on all ranks.
  void gather(std::span<const std::byte> own, std::span<std::byte> all,
              std::span<const std::size_t> sizes, int root);
  /// The reverse of gather.
  void scatter(std::span<const std::byte> all, std::span<std::byte> own,
               std::span<const std::size_t> sizes, int root);
  /// `all` receives the data of all ranks, in rank order, on all ranks. Requires: equal
  /// sizes.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  /// All ranks receive each rank's part of `whole`.
  void all_gather_parts(std::span<float> whole, RankParts parts = {});

  /// Adds the ranks' partials; `whole` receives the sum in this rank's part only.
  /// `partials` are this rank's, each as long as `whole`, which may be one of them. Every
  /// sum is rounded to the type, in which numbers are sent; partials have to be.
  void reduce_scatter(const ReductionSum& order, std::span<const float* const> partials,
                      std::span<float> whole, RankParts parts = {},
                      Dtype dtype = Dtype::fp32);
  /// As reduce_scatter, but all ranks receive the complete sum.
  void all_reduce(const ReductionSum& order, std::span<const float* const> partials,
                  std::span<float> whole, Dtype dtype = Dtype::fp32);

  void barrier();

  const Traffic& traffic(Operation operation) const {
    return traffic_[static_cast<std::size_t>(operation)];
  }
  Traffic total_traffic() const;

 protected:
  /// What is sent to each rank and received from it; nothing where a span is empty. A
  /// rank's own entries are ignored.
  struct Exchange {
    Operation operation;
    std::span<const std::span<const std::byte>> to;
    std::span<const std::span<std::byte>> from;
  };

  struct Reduction {
    Operation operation;  // reduce_scatter or all_reduce
    const ReductionSum& order;
    std::span<const float* const> partials;
    std::span<float> whole;
    RankParts parts;
    Dtype dtype;  // of what is sent

    bool to_all() const { return operation == Operation::all_reduce; }
    /// The part that a rank owns.
    Range part_of(int rank) const {
      return part_of_rank(parts, rank, order.ranks(), whole.size());
    }
  };

 private:
  virtual void do_exchange(const Exchange& exchange) = 0;
  virtual void do_reduce(const Reduction& reduction) = 0;

  class Counted;
  void clear_exchange();
  void exchange(Operation operation);
  void reduce(const Reduction& reduction);

  int rank_, ranks_;
  std::array<Traffic, kOperations> traffic_;
  std::vector<std::span<const std::byte>> to_;  // by rank, of the current exchange
  std::vector<std::span<std::byte>> from_;
};

}  // namespace convoy
