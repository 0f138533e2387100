// SPDX-License-Identifier: Apache-2.0
//
// StoreRoster: the ranks and nodes of a job, and the peers that hold them.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "convoy/rendezvous/store_protocol.h"

namespace convoy {

struct RosterOptions {
  int ranks = 1;
  int nodes = 0;  // each with convoy's launcher; 0: another program started the ranks
  std::string settings;  // of the job, one "name=value" per line; empty: not compared
  /// Ranks from this one on are elastic: they may join late, leave, be lost and join
  /// again. Those before are on node 0.
  std::optional<int> elastic_from{};
};

class StoreRoster {
 public:
  explicit StoreRoster(const RosterOptions& options);

  struct Refused {
    Refusal kind;
    std::string reason;  // for the log
    std::string answer;  // for the peer
  };

  /// Admits a peer, or returns why not. A rank is admitted once: if it has left or was
  /// lost, it cannot join again, unless it is elastic.
  std::optional<Refused> admit(const Hello& hello);

  /// Removes a peer that was admitted. An elastic rank can then join again.
  void release(const Hello& hello);

  bool is_elastic(const Hello& hello) const;

  /// Whether all nodes, and all ranks except elastic ones, have joined.
  bool is_complete() const;

  /// Formats as "3 of 4 ranks, missing: rank 2 (on node1)". Elastic ranks do not count.
  std::string missing() const;

 private:
  int awaited() const { return options_.elastic_from.value_or(options_.ranks); }
  int joined() const;
  std::string missing_nodes() const;
  std::string missing_ranks() const;
  std::string host_of_rank(int rank) const;

  RosterOptions options_;
  std::string settings_hash_;
  std::map<int, Hello> ranks_, nodes_;  // admitted, by number
};

/// Formats as "rank 2 on node1 (pid 4711)".
std::string describe(const Hello& hello);

/// The SHA-256 of settings lines, which a hello contains.
std::string settings_hash(const std::string& settings);

}  // namespace convoy
