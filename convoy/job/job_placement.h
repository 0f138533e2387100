// SPDX-License-Identifier: Apache-2.0
//
// JobPlacement: this process's place in the job, and the address of the rendezvous.
//
// The first of these that is present decides:
//
//   convoy's launcher   CONVOY_RANK and others, for the ranks it starts
//   flags, settings     -n, --nnodes, --node-rank, --master-addr, --master-port
//   torchrun            RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK
//                       MASTER_ADDR MASTER_PORT
//   Slurm               SLURM_PROCID SLURM_NTASKS SLURM_LOCALID SLURM_NODEID ...
//   Open MPI            OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//   Lightning           WORLD_SIZE (the number of nodes) NODE_RANK, without RANK
//   none of these       one process, alone
//
// A placement that is incomplete or contradictory is refused. torchrun's agent listens on
// MASTER_PORT itself (TORCHELASTIC_USE_AGENT_STORE=True); convoy then uses the next port.
// MASTER_ADDR and MASTER_PORT also give the rendezvous of tasks of Slurm and Open MPI,
// and of nodes that flags describe.
//
// In a job with parameter servers the first ranks are servers, all others workers.
// convoy's launcher starts the servers on node 0, in addition to its workers; other
// launchers count servers among their ranks.

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace convoy {

enum class LauncherKind {
  none,
  convoy,
  flags,
  node_variables,  // Lightning's
  torchrun,
  slurm,
  open_mpi
};

/// What this process does in the job.
enum class ProcessRole {
  alone,  // it is the whole job
  rank,   // it is one rank, started by a launcher
  launch  // it starts and supervises this node's ranks
};

struct JobPlacement {
  ProcessRole role = ProcessRole::alone;
  LauncherKind launcher_kind = LauncherKind::none;
  int rank = 0, ranks = 1;  // of a launcher: its first rank
  int local_rank = 0, local_ranks = 1;
  int node = 0, nodes = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 0;  // 0: any free one
  /// Distinguishes this job from others of the same launcher kind.
  std::string job = "none";
  int servers = 0;  // the first ranks are parameter servers

  /// Whether all ranks are on this machine.
  bool one_machine() const;

  bool is_server() const { return rank < servers; }
  int worker() const { return rank - servers; }  // number of this worker, from 0
  int workers() const { return ranks - servers; }

  /// Servers on this node, if ranks are distributed in order.
  int local_servers() const { return node == 0 ? std::min(servers, local_ranks) : 0; }
};

/// What flags and settings say; 0, -1 and empty texts mean unset.
struct PlacementRequest {
  int nproc_per_node = 0;  // workers only, if there are servers
  int nnodes = 0;
  int node_rank = -1;
  std::string master_addr{};
  int master_port = 0;
  int servers = 0;  // parameter servers of the job; with servers, no process is alone
};

using Environment = std::map<std::string, std::string>;

Environment current_environment();

/// Throws InputError of kind `settings` for an incomplete or contradictory placement.
JobPlacement find_placement(const PlacementRequest& request,
                            const Environment& environment);

/// Formats as "rank 3 of 8 (1 of 4 here), node 0 of 2, by torchrun, rendezvous at
/// n0:29501".
std::string describe(const JobPlacement& placement);

/// Describes what a launcher starts: "4 ranks", "1 server and 4 workers".
std::string describe_ranks(const JobPlacement& launcher);

/// The first rank that may be lost and restarted: the first worker; none: all ranks are
/// required.
std::optional<int> elastic_from(const JobPlacement& job);

/// Names a rank: "rank 2"; in a job with servers "server 0" or "worker 1".
std::string role_name(const JobPlacement& job, int rank);

/// The default port of a job on several machines.
inline constexpr int kDefaultPort = 29500;

}  // namespace convoy
