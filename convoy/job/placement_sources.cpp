// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/placement_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::optional<int> whole_number(const std::string& text) {
  int number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// MASTER_ADDR and MASTER_PORT override the launcher's own address.
void take_master(const Variables& variables, JobPlacement& placement) {
  placement.master_address =
      variables.text("MASTER_ADDR").value_or(placement.master_address);
  placement.master_port = variables.number("MASTER_PORT").value_or(placement.master_port);
}

/// From 10000 to below 30000, outside the ephemeral port range.
int port_of_job(const std::string& job) {
  return 10000 + whole_number(job).value_or(0) % 20000;
}

}  // namespace

bool Variables::has(const std::string& name) const { return text(name).has_value(); }

std::optional<std::string> Variables::text(const std::string& name) const {
  const auto found = environment_.find(name);
  if (found == environment_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int> Variables::number(const std::string& name) const {
  const std::optional<std::string> written = text(name);
  if (!written) return std::nullopt;
  if (const std::optional<int> number = whole_number(*written)) return number;
  throw InputError(InputKind::settings, {.where = "environment: " + name,
                                         .found = *written,
                                         .expected = "a whole number from 0",
                                         .hint = ""});
}

int Variables::required(const std::string& name, const std::string& because) const {
  if (const std::optional<int> value = number(name)) return *value;
  throw InputError(InputKind::settings,
                   {.where = "environment: " + name,
                    .found = "nothing, though " + because + " is set",
                    .expected = "both, or neither",
                    .hint = "unset " + because +
                            " to run without a launcher, or use "
                            "convoy train -n N"});
}

std::optional<JobPlacement> place_by_convoy(const Variables& variables) {
  if (!variables.has("CONVOY_RANK")) return std::nullopt;
  const auto number = [&](const char* name) {
    return variables.required(name, "CONVOY_RANK");
  };
  JobPlacement placement{.role = ProcessRole::rank,
                         .launcher_kind = LauncherKind::convoy};
  placement.rank = number("CONVOY_RANK");
  placement.ranks = number("CONVOY_RANKS");
  placement.local_rank = number("CONVOY_LOCAL_RANK");
  placement.local_ranks = number("CONVOY_LOCAL_RANKS");
  placement.node = number("CONVOY_NODE_RANK");
  placement.nodes = number("CONVOY_NODES");
  placement.master_address = variables.text("CONVOY_MASTER_ADDR").value_or("127.0.0.1");
  placement.master_port = number("CONVOY_MASTER_PORT");
  return placement;
}

bool counts_nodes(const Variables& variables) {
  return variables.has("WORLD_SIZE") && variables.has("NODE_RANK") &&
         !variables.has("RANK") && !variables.has("LOCAL_RANK") &&
         !variables.has("LOCAL_WORLD_SIZE");
}

std::optional<JobPlacement> place_by_torchrun(const Variables& variables) {
  if (counts_nodes(variables)) return std::nullopt;
  for (const char* name : {"WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) {
    if (variables.has(name)) variables.required("RANK", name);
  }
  if (!variables.has("RANK")) return std::nullopt;
  JobPlacement placement{.role = ProcessRole::rank,
                         .launcher_kind = LauncherKind::torchrun};
  placement.rank = variables.required("RANK", "RANK");
  placement.ranks = variables.required("WORLD_SIZE", "RANK");
  take_master(variables, placement);
  // If RANK is set by hand, without local numbers, a loopback address means that all
  // ranks are here.
  const bool local_numbers = variables.has("LOCAL_WORLD_SIZE");
  const bool here = placement.master_address.starts_with("127.") ||
                    placement.master_address == "localhost" || placement.ranks == 1;
  placement.local_ranks = local_numbers ? variables.required("LOCAL_WORLD_SIZE", "RANK")
                                        : (here ? placement.ranks : 1);
  placement.local_rank =
      variables.number("LOCAL_RANK")
          .value_or(placement.local_ranks > 0 ? placement.rank % placement.local_ranks
                                              : 0);
  placement.node =
      variables.number("GROUP_RANK")
          .value_or(placement.local_ranks > 0 ? placement.rank / placement.local_ranks
                                              : 0);
  placement.nodes =
      placement.local_ranks > 0 ? placement.ranks / placement.local_ranks : 0;
  placement.job = variables.text("TORCHELASTIC_RUN_ID").value_or("none");
  if (placement.nodes > 1) {
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
      if (!variables.has(name)) variables.required(name, "RANK");
    }
  }
  const bool agent_listens =
      variables.text("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  if (agent_listens && placement.master_port > 0) ++placement.master_port;
  return placement;
}

std::optional<JobPlacement> place_by_slurm(const Variables& variables) {
  // The shell of an interactive allocation has the variables too, but is not a task.
  const std::string name = variables.text("SLURM_JOB_NAME").value_or("");
  if (name == "bash" || name == "interactive") return std::nullopt;
  if (!variables.has("SLURM_PROCID")) return std::nullopt;
  JobPlacement placement{.role = ProcessRole::rank, .launcher_kind = LauncherKind::slurm};
  placement.rank = variables.required("SLURM_PROCID", "SLURM_PROCID");
  placement.ranks = variables.number("SLURM_STEP_NUM_TASKS").value_or(0);
  if (placement.ranks == 0)
    placement.ranks = variables.required("SLURM_NTASKS", "SLURM_PROCID");
  placement.node = variables.number("SLURM_NODEID").value_or(0);
  placement.nodes =
      variables.number("SLURM_STEP_NUM_NODES")
          .value_or(variables.number("SLURM_NNODES")
                        .value_or(variables.number("SLURM_JOB_NUM_NODES").value_or(1)));
  const auto tasks = variables.text("SLURM_STEP_TASKS_PER_NODE")
                         .value_or(variables.text("SLURM_TASKS_PER_NODE").value_or(""));
  placement.local_ranks = tasks_on_node(tasks, placement.node);
  if (placement.local_ranks == 0) {
    placement.local_ranks =
        variables.number("SLURM_NTASKS_PER_NODE")
            .value_or(placement.nodes > 0 ? placement.ranks / placement.nodes : 0);
  }
  placement.local_rank = variables.required("SLURM_LOCALID", "SLURM_PROCID");
  placement.job = variables.text("SLURM_JOB_ID").value_or("none");
  if (placement.nodes > 1) {
    const auto hosts = variables.text("SLURM_STEP_NODELIST")
                           .value_or(variables.text("SLURM_JOB_NODELIST").value_or(""));
    placement.master_address = first_host(hosts);
    placement.master_port = port_of_job(placement.job);
  }
  take_master(variables, placement);
  placement.job += "." + variables.text("SLURM_STEP_ID").value_or("0");
  return placement;
}

std::optional<JobPlacement> place_by_open_mpi(const Variables& variables) {
  const std::string prefix = "OMPI_COMM_WORLD_";
  if (!variables.has(prefix + "RANK")) return std::nullopt;
  const auto number = [&](const char* name) {
    return variables.required(prefix + name, prefix + "RANK");
  };
  JobPlacement placement{.role = ProcessRole::rank,
                         .launcher_kind = LauncherKind::open_mpi};
  placement.rank = number("RANK");
  placement.ranks = number("SIZE");
  placement.local_rank = number("LOCAL_RANK");
  placement.local_ranks = number("LOCAL_SIZE");
  const bool sound = placement.local_ranks > 0;
  placement.nodes =
      sound ? (placement.ranks + placement.local_ranks - 1) / placement.local_ranks : 0;
  placement.node =
      sound ? std::min(placement.rank / placement.local_ranks, placement.nodes - 1) : 0;
  placement.job = variables.text("PMIX_NAMESPACE").value_or("none");
  if (placement.nodes > 1) {
    placement.master_address.clear();  // Open MPI does not say where rank 0 is
    placement.master_port = kDefaultPort;
  }
  take_master(variables, placement);
  return placement;
}

std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of("-,]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

int tasks_on_node(const std::string& list, int node) {
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::size_t times = entry.find("(x");
    const int tasks = whole_number(entry.substr(0, times)).value_or(0);
    const int nodes =
        times == std::string::npos
            ? 1
            : whole_number(entry.substr(times + 2, entry.size() - times - 3)).value_or(1);
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return 0;
}

}  // namespace convoy
