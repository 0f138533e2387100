// SPDX-License-Identifier: Apache-2.0
//
// ExchangeCost: time and bytes of the collective operations between ranks.
//
// `direct` is what convoy does (comm/comm.h): every rank owns an even part, gets the
// others' partial sums of it at once, and sends its sum to all. `ring` and `tree` are
// what other libraries do, for comparison: rounds of 1/ranks of the numbers round a ring;
// all of them up a binary tree and down again.

#pragma once

#include <cstdint>

#include "convoy/cost_model/cost_profile.h"
#include "convoy/cost_model/overlap.h"

namespace convoy {

/// The machines of a job, all like the profile's, and the links between them.
struct Cluster {
  int machines = 1;
  int ranks_per_machine = 1;
  double latency = 0;           // seconds, from machine to machine
  double bandwidth = 0;         // bytes per second of a machine's link; 0: no limit
  double server_bandwidth = 0;  // of a parameter server's; 0: no limit

  int ranks() const { return machines * ranks_per_machine; }
};

enum class Algorithm { direct, ring, tree };

/// Bytes that a rank sends; sizes are whole floats. These are what Traffic counts.
std::uint64_t reduce_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials);
std::uint64_t all_gather_sent(std::uint64_t bytes, int ranks, int rank);
std::uint64_t all_reduce_sent(std::uint64_t bytes, int ranks, int rank,
                              std::uint64_t partials);
std::uint64_t gather_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials);

class ExchangeCost {
 public:
  /// Borrows the profile. `partials` is how many a rank has.
  ExchangeCost(const CostProfile& profile, const Cluster& cluster, std::uint64_t partials)
      : profile_(profile), cluster_(cluster), partials_(partials) {}

  /// `bytes` are of the whole, everywhere. A job of one rank exchanges nothing.
  Exchange all_reduce(std::uint64_t bytes, Algorithm algorithm) const;
  Exchange reduce_scatter(std::uint64_t bytes) const;
  Exchange all_gather(std::uint64_t bytes) const;
  /// Everyone's partials to rank 0, and the sum from it to everyone.
  Exchange gather_scatter(std::uint64_t bytes) const;
  /// The small message of every rank to every other.
  Exchange agreement(std::uint64_t message_bytes) const;

  /// Rounds of messages over TCP in which a rank sends `sent` bytes, and a machine `link`
  /// through its link, to `peers` others.
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
