// SPDX-License-Identifier: Apache-2.0
//
// StoreRoster: who belongs to a job, who has come, and who may come.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "convoy/comm/store_protocol.h"

namespace convoy {

struct RosterOptions {
  int ranks = 1;
  int nodes = 0;         // with a launcher on each; 0: somebody else started the ranks
  std::string settings;  // of the job, "name=value" a line; no line: any will do
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
  /// lost does not come back.
  std::optional<Refused> admit(const Hello& hello);

  /// Whether all ranks, and all nodes, have come.
  bool is_complete() const;

  /// "3 of 4 ranks, missing: rank 2 (on node1)".
  std::string missing() const;

 private:
  std::string missing_nodes() const;
  std::string missing_ranks() const;
  std::string host_of_rank(int rank) const;

  RosterOptions options_;
  std::string settings_hash_;
  std::map<int, Hello> ranks_, nodes_;  // that have come, by number
};

/// "rank 2 on node1 (pid 4711)".
std::string describe(const Hello& hello);

/// The SHA-256 of settings lines, which is what a hello carries.
std::string settings_hash(const std::string& settings);

}  // namespace convoy
