// SPDX-License-Identifier: Apache-2.0
//
// ExchangeCost: time and bytes of the collective operations between ranks.
//
// `direct` is what convoy does (comm/comm.h): every rank owns an even part, receives the
// other ranks' partial sums of it at once, and sends its sum to all ranks. `ring` and
// `tree` are what other libraries do, for comparison: a ring sends 1/ranks of the data
// per round; a tree sends all data up a binary tree and down again.

#pragma once

#include <cstdint>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/cost_model/overlap.h"

namespace convoy {

/// The machines of a job, all like that of the profile, and the links between them.
struct Cluster {
  int machines = 1;
  int ranks_per_machine = 1;
  double latency = 0;           // seconds, from machine to machine
  double bandwidth = 0;         // bytes per second of each machine's link; 0: no limit
  double server_bandwidth = 0;  // of a parameter server's link; 0: no limit

  int ranks() const { return machines * ranks_per_machine; }
};

enum class Algorithm { direct, ring, tree };

/// Bytes that a rank sends, as Traffic counts them; sizes are multiples of a float's.
std::uint64_t reduce_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials);
std::uint64_t all_gather_sent(std::uint64_t bytes, int ranks, int rank);
std::uint64_t all_reduce_sent(std::uint64_t bytes, int ranks, int rank,
                              std::uint64_t partials);
std::uint64_t gather_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials);

class ExchangeCost {
 public:
  /// Borrows the profile. `partials` is the number of partials per rank.
  ExchangeCost(const CostProfile& profile, const Cluster& cluster, std::uint64_t partials)
      : profile_(profile), cluster_(cluster), partials_(partials) {}

  /// `bytes` always is the size of the complete buffer. A job with one rank exchanges
  /// nothing.
  Exchange all_reduce(std::uint64_t bytes, Algorithm algorithm) const;
  Exchange reduce_scatter(std::uint64_t bytes) const;
  Exchange all_gather(std::uint64_t bytes) const;
  /// All partials are sent to rank 0, and the sum from rank 0 to all ranks.
  Exchange gather_scatter(std::uint64_t bytes) const;
  /// The small all-gather of a step.
  Exchange agreement(std::uint64_t message_bytes) const;

  /// The cost of rounds of messages over TCP in which a rank sends `sent` bytes to
  /// `peers` others, and a machine sends `link` bytes through its link.
  Exchange over_tcp(double rounds, double peers, double sent, double link) const;

 private:
  bool alone() const { return cluster_.ranks() == 1; }
  bool one_machine() const { return cluster_.machines == 1; }
  double ranks() const { return cluster_.ranks(); }
  double others() const { return ranks() - 1; }
  double to_other_machines() const;
  double stretched(double seconds) const;
  double added(double bytes) const;
  Exchange in_machine(double rounds, double sent, double direct_sent,
                      std::uint64_t bytes) const;
  Exchange by_direct(std::uint64_t bytes) const;
  Exchange by_ring(std::uint64_t bytes) const;
  Exchange by_tree(std::uint64_t bytes) const;
  Exchange half(std::uint64_t bytes, std::uint64_t sent) const;

  const CostProfile& profile_;
  Cluster cluster_;
  std::uint64_t partials_;
};

}  // namespace convoy
