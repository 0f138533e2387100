// SPDX-License-Identifier: Apache-2.0
//
// StoreRoster: the places of a job, and the peers that hold them.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "convoy/rendezvous/store_protocol.h"

namespace convoy {

struct RosterOptions {
  int ranks = 1;
  int nodes = 0;  // with our launcher on each; 0: another program started the ranks
  std::string settings;  // of the job, "name=value" a line; no line: any will do
  /// Ranks from this one are elastic: they may join late, leave, be lost and join again.
  /// Those before them are node 0's.
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

  /// Admits a peer, or returns why not. A place is given once: a rank that has left or
  /// was lost does not join again, unless it is elastic.
  std::optional<Refused> admit(const Hello& hello);

  /// A peer that was admitted is gone. An elastic rank's place is free again.
  void release(const Hello& hello);

  bool is_elastic(const Hello& hello) const;

  /// Whether all nodes have joined, and all ranks but elastic ones.
  bool is_complete() const;

  /// "3 of 4 ranks, missing: rank 2 (on node1)". Elastic ones do not count.
  std::string missing() const;

 private:
  int awaited() const { return options_.elastic_from.value_or(options_.ranks); }
  int joined() const;
  std::string missing_nodes() const;
  std::string missing_ranks() const;
  std::string host_of_rank(int rank) const;

  RosterOptions options_;
  std::string settings_hash_;
  std::map<int, Hello> ranks_, nodes_;  // that hold their place, by number
};

/// "rank 2 on node1 (pid 4711)".
std::string describe(const Hello& hello);

/// The SHA-256 of settings lines, which is what a hello carries.
std::string settings_hash(const std::string& settings);

}  // namespace convoy
