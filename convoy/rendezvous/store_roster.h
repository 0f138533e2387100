// SPDX-License-Identifier: Apache-2.0
//
// StoreRoster: who belongs to a job, who has come, and who may come.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "convoy/rendezvous/store_protocol.h"

namespace convoy {

struct RosterOptions {
  int ranks = 1;
  int nodes = 0;         // with a launcher on each; 0: somebody else started the ranks
  std::string settings;  // of the job, "name=value" a line; no line: any will do
  /// Ranks from this on are elastic: they may come late, leave, be lost and come back.
  /// Those before them are node 0's.
  std::optional<int> elastic_from{};
};

class StoreRoster {
 public:
  explicit StoreRoster(const RosterOptions& options);

  struct Refused {
    Refusal kind;
    std::string reason;  // for the log
    std::string answer;  // for who asked
  };

  /// Admits who says hello, or says why not. A place is given once: who has left or was
  /// lost does not come back, unless it is elastic.
  std::optional<Refused> admit(const Hello& hello);

  /// Somebody who was admitted is gone. An elastic rank's place is free again.
  void release(const Hello& hello);

  bool is_elastic(const Hello& hello) const;

  /// Whether all nodes have come, and all ranks but elastic ones.
  bool is_complete() const;

  /// "3 of 4 ranks, missing: rank 2 (on node1)". Elastic ones do not count.
  std::string missing() const;

 private:
  int awaited() const { return options_.elastic_from.value_or(options_.ranks); }
  int come() const;
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
