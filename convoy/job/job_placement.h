// SPDX-License-Identifier: Apache-2.0
//
// JobPlacement: which part of a job this process is, and where the others meet.
//
// Who says it, the first that does:
//
//   convoy's launcher   CONVOY_RANK and its kin, for the ranks it starts
//   flags, settings     -n, --nnodes, --node-rank, --master-addr, --master-port
//   torchrun            RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK
//                       MASTER_ADDR MASTER_PORT
//   Slurm               SLURM_PROCID SLURM_NTASKS SLURM_LOCALID SLURM_NODEID ...
//   Open MPI            OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
//   nobody              one process, alone
//
// A place that is half said, or said twice and differently, is refused. torchrun's agent
// listens on MASTER_PORT itself (TORCHELASTIC_USE_AGENT_STORE=True); then the port after
// it is ours. MASTER_ADDR and MASTER_PORT also say where Slurm's and Open MPI's tasks
// meet, and nodes that flags describe.
//
// In a job with parameter servers the first ranks are servers, all others workers. Our
// launcher starts the servers on node 0, beside as many workers as on any other node;
// other starters count servers among their ranks.

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace convoy {

enum class LauncherKind { nobody, convoy, flags, torchrun, slurm, open_mpi };

/// What this process does in the job.
enum class ProcessRole {
  alone,  // it is the job
  rank,   // it is one rank; a launcher started it
  launch  // it starts this node's ranks and looks after them
};

struct JobPlacement {
  ProcessRole role = ProcessRole::alone;
  LauncherKind launcher_kind = LauncherKind::nobody;
  int rank = 0, ranks = 1;  // of a launcher: the first of its ranks
  int local_rank = 0, local_ranks = 1;
  int node = 0, nodes = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 0;       // 0: any free one
  std::string job = "none";  // what tells this job from others of its launcher_kind
  int servers = 0;           // how many of the ranks, the first, are parameter servers

  /// Whether all ranks are on this machine.
  bool one_machine() const;

  bool is_server() const { return rank < servers; }
  int worker() const { return rank - servers; }  // which one this rank is, from 0
  int workers() const { return ranks - servers; }

  /// Servers on this node, if ranks are dealt out in order.
  int local_servers() const { return node == 0 ? std::min(servers, local_ranks) : 0; }
};

/// What flags and settings say; 0, -1 and empty texts: nothing.
struct PlacementRequest {
  int nproc_per_node = 0;  // of workers, if there are servers
  int nnodes = 0;
  int node_rank = -1;
  std::string master_addr{};
  int master_port = 0;
  int servers = 0;  // parameter servers of the job; with some nobody is alone
};

using Environment = std::map<std::string, std::string>;

Environment current_environment();

/// Throws InputError of kind `settings` for a place that is half said or contradictory.
JobPlacement find_placement(const PlacementRequest& request,
                            const Environment& environment);

/// "rank 3 of 8 (1 of 4 here), node 0 of 2, by torchrun, rendezvous at n0:29501".
std::string describe(const JobPlacement& placement);

/// What a launcher starts: "4 ranks", "1 server and 4 workers".
std::string describe_ranks(const JobPlacement& launcher);

/// The first rank that may be lost and come back: the first worker; none: all have to
/// stay.
std::optional<int> elastic_from(const JobPlacement& job);

/// "rank 2"; in a job with servers "server 0" or "worker 1".
std::string role_name(const JobPlacement& job, int rank);

/// Usual port of a job on several machines.
inline constexpr int kUsualPort = 29500;

}  // namespace convoy
