// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/job_placement.h"

#include <fmt/format.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/job/placement_sources.h"

namespace convoy {
namespace {

const char* name_of(LauncherKind launcher_kind) {
  switch (launcher_kind) {
    case LauncherKind::none:
      return "no launcher";
    case LauncherKind::convoy:
      return "convoy";
    case LauncherKind::flags:
      return "flags";
    case LauncherKind::node_variables:
      return "WORLD_SIZE and NODE_RANK";
    case LauncherKind::torchrun:
      return "torchrun";
    case LauncherKind::slurm:
      return "Slurm";
    case LauncherKind::open_mpi:
      return "Open MPI";
  }
  return "?";
}

InputError place_error(const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& hint) {
  return {InputKind::settings,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

void refuse_unless(bool holds, const JobPlacement& placement, const std::string& found,
                   const std::string& expected) {
  if (holds) return;
  throw place_error(
      fmt::format("place in the job, by {}", name_of(placement.launcher_kind)), found,
      expected, "are variables of another job still set?");
}

void refuse_contradictions(const JobPlacement& placement) {
  refuse_unless(
      placement.local_ranks <= placement.ranks, placement,
      fmt::format("{} ranks here, {} in all", placement.local_ranks, placement.ranks),
      "no more ranks here than in all");
  refuse_unless(placement.nodes >= 1 && placement.node < placement.nodes, placement,
                fmt::format("node {} of {}", placement.node, placement.nodes),
                "a node below the number of nodes");
  refuse_unless(placement.ranks >= 1 && placement.rank < placement.ranks, placement,
                fmt::format("rank {} of {}", placement.rank, placement.ranks),
                "a rank below the number of ranks");
  refuse_unless(
      placement.local_ranks >= 1 && placement.local_rank < placement.local_ranks,
      placement,
      fmt::format("local rank {} of {}", placement.local_rank, placement.local_ranks),
      "a local rank below their number");
  refuse_unless(placement.master_port <= 65535, placement,
                fmt::format("port {}", placement.master_port), "a port up to 65535");
}

/// With several machines, Open MPI alone does not set it.
void refuse_unknown_master(const JobPlacement& placement) {
  if (!placement.master_address.empty()) return;
  throw place_error("MASTER_ADDR", "nothing", "the address of rank 0's machine",
                    "mpirun -x MASTER_ADDR=HOST, or --master-addr HOST");
}

std::optional<JobPlacement> place_by_starter(const Variables& variables) {
  if (auto placement = place_by_torchrun(variables)) return placement;
  if (auto placement = place_by_slurm(variables)) return placement;
  return place_by_open_mpi(variables);
}

bool asks_for_launch(const PlacementRequest& request) {
  return request.nproc_per_node > 1 || request.nnodes > 1 || request.servers > 0;
}

/// The number of ranks if each node starts that many, and node 0 the servers in addition.
int ranks_by(const PlacementRequest& request, int nodes) {
  return request.servers + std::max(1, request.nproc_per_node) * nodes;
}

/// Flags about the master override the environment.
void take_master(const PlacementRequest& request, JobPlacement& placement) {
  if (!request.master_addr.empty()) placement.master_address = request.master_addr;
  if (request.master_port > 0) placement.master_port = request.master_port;
}

/// Whether the flags agree with the launcher: the same number of ranks on the same number
/// of nodes.
bool agree(const PlacementRequest& request, const JobPlacement& started) {
  const bool alike = request.servers > 0
                         ? ranks_by(request, started.nodes) == started.ranks
                         : request.nproc_per_node == started.local_ranks;
  const bool ranks = request.nproc_per_node <= 0 || alike;
  const bool nodes = request.nnodes <= 0 || request.nnodes == started.nodes;
  return ranks && nodes;
}

/// Whether one task per node was started, each of which starts the ranks of its node.
bool is_task_a_node(const PlacementRequest& request, const JobPlacement& started) {
  const bool has_more = request.nproc_per_node > 1 || request.servers > 0;
  return started.local_ranks == 1 && has_more && started.ranks == started.nodes &&
         (request.nnodes <= 0 || request.nnodes == started.nodes);
}

JobPlacement launcher_of_node(const PlacementRequest& request, const JobPlacement& node) {
  JobPlacement placement = node;
  const int alike = std::max(1, request.nproc_per_node);  // per node
  placement.role = ProcessRole::launch;
  placement.local_ranks = alike + (node.node == 0 ? request.servers : 0);
  placement.ranks = ranks_by(request, node.nodes);
  placement.rank = node.node == 0 ? 0 : request.servers + alike * node.node;
  placement.local_rank = 0;
  take_master(request, placement);
  return placement;
}

/// With another launcher, the first ranks are servers: at least one rank must be a
/// worker.
void refuse_without_worker(const PlacementRequest& request,
                           const JobPlacement& placement) {
  if (placement.ranks > request.servers) return;
  throw place_error(
      fmt::format("ranks by {}", name_of(placement.launcher_kind)),
      fmt::format("{}, and the first {} serve parameters (ps.servers)", placement.ranks,
                  request.servers),
      fmt::format("at least {}: a server is a rank too, and there must be a worker",
                  request.servers + 1),
      "start more ranks, or one task per node with -n for its workers");
}

JobPlacement rank_of_starter(const PlacementRequest& request, JobPlacement placement) {
  refuse_without_worker(request, placement);
  take_master(request, placement);
  refuse_unknown_master(placement);
  if (placement.ranks == 1) placement.role = ProcessRole::alone;
  return placement;
}

JobPlacement with_starter(const PlacementRequest& request, const JobPlacement& started) {
  if (agree(request, started)) return rank_of_starter(request, started);
  if (is_task_a_node(request, started)) {
    JobPlacement placement = launcher_of_node(request, started);
    refuse_unknown_master(placement);
    return placement;
  }
  throw place_error(
      "cluster.nproc_per_node, cluster.nnodes",
      fmt::format("{} ranks on each of {} nodes", std::max(1, request.nproc_per_node),
                  std::max(1, request.nnodes)),
      fmt::format("what {} started: {} on each of {}", name_of(started.launcher_kind),
                  started.local_ranks, started.nodes),
      "leave -n out, or start one process per node");
}

int node_of(const PlacementRequest& request, const Variables& variables) {
  if (request.node_rank >= 0) return request.node_rank;
  if (const auto node = variables.number("NODE_RANK")) return *node;
  throw place_error("cluster.node_rank", "nothing",
                    fmt::format("which node this is: 0 to {}", request.nnodes - 1),
                    "--node-rank 0 on the node that cluster.master_addr names");
}

JobPlacement by_flags(const PlacementRequest& request, const Variables& variables) {
  JobPlacement node{.role = ProcessRole::launch, .launcher_kind = LauncherKind::flags};
  node.nodes = std::max(1, request.nnodes);
  if (node.nodes == 1 && request.node_rank > 0) {
    throw place_error("cluster.node_rank", std::to_string(request.node_rank),
                      "0, since cluster.nnodes is 1", "--nnodes N");
  }
  if (node.nodes > 1) {
    node.node = node_of(request, variables);
    node.master_address = variables.text("MASTER_ADDR").value_or("");
    node.master_port = variables.number("MASTER_PORT").value_or(kDefaultPort);
  }
  JobPlacement placement = launcher_of_node(request, node);
  if (placement.master_address.empty()) {
    throw place_error("cluster.master_addr", "nothing", "the address of node 0",
                      "--master-addr HOST on every node");
  }
  return placement;
}

/// Completes the flags by Lightning's variables.
PlacementRequest with_nodes(PlacementRequest request, const Variables& variables) {
  const int nodes = variables.required("WORLD_SIZE", "NODE_RANK");
  if (nodes == 0) {
    throw place_error("environment: WORLD_SIZE", "0, with NODE_RANK and without RANK",
                      "the number of nodes, from 1", "--nnodes N --node-rank I");
  }
  if (request.nnodes <= 0) request.nnodes = nodes;
  return request;
}

/// If each node has one process that starts the ranks of the node.
std::optional<JobPlacement> place_by_node(const PlacementRequest& request,
                                          const Variables& variables) {
  const bool counted = counts_nodes(variables);
  const PlacementRequest whole = counted ? with_nodes(request, variables) : request;
  if (!asks_for_launch(whole) && whole.node_rank <= 0) return std::nullopt;
  JobPlacement placement = by_flags(whole, variables);
  if (counted) placement.launcher_kind = LauncherKind::node_variables;
  return placement;
}

}  // namespace

bool JobPlacement::one_machine() const { return local_ranks == ranks && nodes == 1; }

Environment current_environment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

JobPlacement find_placement(const PlacementRequest& request,
                            const Environment& environment) {
  const Variables variables(environment);
  JobPlacement placement;
  if (const auto ours = place_by_convoy(variables)) {
    placement = *ours;
  } else if (const auto started = place_by_starter(variables)) {
    refuse_contradictions(*started);
    placement = with_starter(request, *started);
  } else if (const auto node = place_by_node(request, variables)) {
    placement = *node;
  }
  placement.servers = request.servers;
  refuse_contradictions(placement);
  return placement;
}

std::string describe(const JobPlacement& placement) {
  if (placement.role == ProcessRole::alone) return "alone";
  const std::string role =
      placement.servers > 0 ? role_name(placement, placement.rank) + ", " : std::string();
  const std::string who =
      placement.role == ProcessRole::launch
          ? fmt::format("{} from {} of {}", describe_ranks(placement), placement.rank,
                        placement.ranks)
          : fmt::format("{}rank {} of {} ({} of {} here)", role, placement.rank,
                        placement.ranks, placement.local_rank, placement.local_ranks);
  return fmt::format("{}, node {} of {}, by {}, rendezvous at {}:{}", who, placement.node,
                     placement.nodes, name_of(placement.launcher_kind),
                     placement.master_address, placement.master_port);
}

std::string describe_ranks(const JobPlacement& launcher) {
  if (launcher.servers == 0) return fmt::format("{} ranks", launcher.local_ranks);
  const auto count = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const int servers = launcher.local_servers();
  const std::string workers = count(launcher.local_ranks - servers, "worker");
  return servers == 0 ? workers : count(servers, "server") + " and " + workers;
}

std::optional<int> elastic_from(const JobPlacement& job) {
  return job.servers > 0 ? std::optional(job.servers) : std::nullopt;
}

std::string role_name(const JobPlacement& job, int rank) {
  if (job.servers == 0) return fmt::format("rank {}", rank);
  return rank < job.servers ? fmt::format("server {}", rank)
                            : fmt::format("worker {}", rank - job.servers);
}

}  // namespace convoy
