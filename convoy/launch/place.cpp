// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/place.h"

#include <fmt/format.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/launch/place_sources.h"

namespace convoy {
namespace {

const char* name_of(Starter starter) {
  switch (starter) {
    case Starter::nobody:
      return "nobody";
    case Starter::convoy:
      return "convoy";
    case Starter::flags:
      return "flags";
    case Starter::torchrun:
      return "torchrun";
    case Starter::slurm:
      return "Slurm";
    case Starter::open_mpi:
      return "Open MPI";
  }
  return "?";
}

InputError place_error(const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& hint) {
  return {InputKind::settings,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

void refuse_unless(bool holds, const Place& place, const std::string& found,
                   const std::string& expected) {
  if (holds) return;
  throw place_error(fmt::format("place in the job, by {}", name_of(place.starter)), found,
                    expected, "are variables of another job still set?");
}

void refuse_contradictions(const Place& place) {
  refuse_unless(place.local_ranks <= place.ranks, place,
                fmt::format("{} ranks here, {} in all", place.local_ranks, place.ranks),
                "no more ranks here than in all");
  refuse_unless(place.nodes >= 1 && place.node < place.nodes, place,
                fmt::format("node {} of {}", place.node, place.nodes),
                "a node below the number of nodes");
  refuse_unless(place.ranks >= 1 && place.rank < place.ranks, place,
                fmt::format("rank {} of {}", place.rank, place.ranks),
                "a rank below the number of ranks");
  refuse_unless(place.local_ranks >= 1 && place.local_rank < place.local_ranks, place,
                fmt::format("local rank {} of {}", place.local_rank, place.local_ranks),
                "a local rank below their number");
  refuse_unless(place.master_port <= 65535, place,
                fmt::format("port {}", place.master_port), "a port up to 65535");
}

/// Only Open MPI leaves it open, on several machines.
void refuse_unknown_master(const Place& place) {
  if (!place.master_address.empty()) return;
  throw place_error("MASTER_ADDR", "nothing", "the address of rank 0's machine",
                    "mpirun -x MASTER_ADDR=HOST, or --master-addr HOST");
}

std::optional<Place> place_by_starter(const Variables& variables) {
  if (auto place = place_by_torchrun(variables)) return place;
  if (auto place = place_by_slurm(variables)) return place;
  return place_by_open_mpi(variables);
}

bool asks_for_launch(const PlaceRequest& request) {
  return request.nproc_per_node > 1 || request.nnodes > 1 || request.servers > 0;
}

/// Ranks of a job whose nodes start that many each, and node 0 the servers as well.
int ranks_by(const PlaceRequest& request, int nodes) {
  return request.servers + std::max(1, request.nproc_per_node) * nodes;
}

/// Flags about the master win over the environment.
void take_master(const PlaceRequest& request, Place& place) {
  if (!request.master_addr.empty()) place.master_address = request.master_addr;
  if (request.master_port > 0) place.master_port = request.master_port;
}

/// Whether what flags say is what the starter did: so many ranks on so many nodes.
bool agree(const PlaceRequest& request, const Place& started) {
  const bool alike = request.servers > 0
                         ? ranks_by(request, started.nodes) == started.ranks
                         : request.nproc_per_node == started.local_ranks;
  const bool ranks = request.nproc_per_node <= 0 || alike;
  const bool nodes = request.nnodes <= 0 || request.nnodes == started.nodes;
  return ranks && nodes;
}

/// One task a node was started, and each is to start the ranks of its node.
bool is_task_a_node(const PlaceRequest& request, const Place& started) {
  const bool has_more = request.nproc_per_node > 1 || request.servers > 0;
  return started.local_ranks == 1 && has_more && started.ranks == started.nodes &&
         (request.nnodes <= 0 || request.nnodes == started.nodes);
}

Place launcher_of_node(const PlaceRequest& request, const Place& node) {
  Place place = node;
  const int alike = std::max(1, request.nproc_per_node);  // on every node
  place.duty = Duty::launch;
  place.local_ranks = alike + (node.node == 0 ? request.servers : 0);
  place.ranks = ranks_by(request, node.nodes);
  place.rank = node.node == 0 ? 0 : request.servers + alike * node.node;
  place.local_rank = 0;
  take_master(request, place);
  return place;
}

/// Somebody else's ranks are servers first: one has to be left to work.
void refuse_without_worker(const PlaceRequest& request, const Place& place) {
  if (place.ranks > request.servers) return;
  throw place_error(
      fmt::format("ranks by {}", name_of(place.starter)),
      fmt::format("{}, and the first {} serve parameters (ps.servers)", place.ranks,
                  request.servers),
      fmt::format("at least {}: a server is a rank, too, and somebody has to work",
                  request.servers + 1),
      "start more ranks, or a task a node with -n for the workers there");
}

Place rank_of_starter(const PlaceRequest& request, Place place) {
  refuse_without_worker(request, place);
  take_master(request, place);
  refuse_unknown_master(place);
  if (place.ranks == 1) place.duty = Duty::alone;
  return place;
}

Place with_starter(const PlaceRequest& request, const Place& started) {
  if (agree(request, started)) return rank_of_starter(request, started);
  if (is_task_a_node(request, started)) {
    Place place = launcher_of_node(request, started);
    refuse_unknown_master(place);
    return place;
  }
  throw place_error(
      "cluster.nproc_per_node, cluster.nnodes",
      fmt::format("{} ranks on each of {} nodes", std::max(1, request.nproc_per_node),
                  std::max(1, request.nnodes)),
      fmt::format("what {} started: {} on each of {}", name_of(started.starter),
                  started.local_ranks, started.nodes),
      "leave -n out, or start one process a node");
}

int node_of(const PlaceRequest& request, const Variables& variables) {
  if (request.node_rank >= 0) return request.node_rank;
  if (const auto node = variables.number("NODE_RANK")) return *node;
  throw place_error("cluster.node_rank", "nothing",
                    fmt::format("which node this is: 0 to {}", request.nnodes - 1),
                    "--node-rank 0 on the node that cluster.master_addr names");
}

Place by_flags(const PlaceRequest& request, const Variables& variables) {
  Place node{.duty = Duty::launch, .starter = Starter::flags};
  node.nodes = std::max(1, request.nnodes);
  if (node.nodes == 1 && request.node_rank > 0) {
    throw place_error("cluster.node_rank", std::to_string(request.node_rank),
                      "0, since cluster.nnodes is 1", "--nnodes N");
  }
  if (node.nodes > 1) {
    node.node = node_of(request, variables);
    node.master_address = variables.text("MASTER_ADDR").value_or("");
    node.master_port = variables.number("MASTER_PORT").value_or(kUsualPort);
  }
  Place place = launcher_of_node(request, node);
  if (place.master_address.empty()) {
    throw place_error("cluster.master_addr", "nothing", "the address of node 0",
                      "--master-addr HOST on every node");
  }
  return place;
}

}  // namespace

bool Place::one_machine() const { return local_ranks == ranks && nodes == 1; }

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

Place find_place(const PlaceRequest& request, const Environment& environment) {
  const Variables variables(environment);
  Place place;
  if (const auto ours = place_by_convoy(variables)) {
    place = *ours;
  } else if (const auto started = place_by_starter(variables)) {
    refuse_contradictions(*started);
    place = with_starter(request, *started);
  } else if (asks_for_launch(request) || request.node_rank > 0) {
    place = by_flags(request, variables);
  }
  place.servers = request.servers;
  refuse_contradictions(place);
  return place;
}

std::string describe(const Place& place) {
  if (place.duty == Duty::alone) return "alone";
  const std::string role =
      place.servers > 0 ? role_name(place, place.rank) + ", " : std::string();
  const std::string who =
      place.duty == Duty::launch
          ? fmt::format("{} from {} of {}", describe_ranks(place), place.rank,
                        place.ranks)
          : fmt::format("{}rank {} of {} ({} of {} here)", role, place.rank, place.ranks,
                        place.local_rank, place.local_ranks);
  return fmt::format("{}, node {} of {}, by {}, rendezvous at {}:{}", who, place.node,
                     place.nodes, name_of(place.starter), place.master_address,
                     place.master_port);
}

std::string describe_ranks(const Place& launcher) {
  if (launcher.servers == 0) return fmt::format("{} ranks", launcher.local_ranks);
  const auto count = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const int servers = launcher.local_servers();
  const std::string workers = count(launcher.local_ranks - servers, "worker");
  return servers == 0 ? workers : count(servers, "server") + " and " + workers;
}

std::optional<int> elastic_from(const Place& job) {
  return job.servers > 0 ? std::optional(job.servers) : std::nullopt;
}

std::string role_name(const Place& job, int rank) {
  if (job.servers == 0) return fmt::format("rank {}", rank);
  return rank < job.servers ? fmt::format("server {}", rank)
                            : fmt::format("worker {}", rank - job.servers);
}

}  // namespace convoy
