// SPDX-License-Identifier: Apache-2.0
//
// JobShape: the processes of a job, and which of them share this machine's memory.

#pragma once

#include <algorithm>
#include <string>

namespace convoy {

struct JobShape {
  std::string strategy = "single";
  int ranks = 1;        // that compute gradients: workers, if there are servers
  int servers = 0;      // parameter servers, which are on node 0
  int local_ranks = 1;  // of `ranks`, on a machine
  int node = 0;

  bool one_machine() const { return local_ranks >= ranks; }
  bool is_served() const { return servers > 0; }
  /// Whether every worker has batches of its own.
  bool is_asynchronous() const { return strategy == "ps_async"; }
  int local_servers() const { return node == 0 ? servers : 0; }
  /// The first of the local ranks.
  int first_rank() const { return std::min(node * local_ranks, ranks - 1); }
};

/// What a process does.
enum class ProcessKind { rank, server, worker };

/// A process and its number among those of its kind.
struct PlannedProcess {
  ProcessKind kind = ProcessKind::rank;
  int number = 0;

  bool computes() const { return kind != ProcessKind::server; }
  bool evaluates() const { return kind != ProcessKind::worker; }
};

}  // namespace convoy
