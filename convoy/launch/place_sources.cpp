// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/place_sources.h"

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

/// MASTER_ADDR and MASTER_PORT, over what the starter itself says.
void take_master(const Variables& variables, Place& place) {
  place.master_address = variables.text("MASTER_ADDR").value_or(place.master_address);
  place.master_port = variables.number("MASTER_PORT").value_or(place.master_port);
}

/// From 10000 to below 30000, where systems hand out no ports themselves.
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

std::optional<Place> place_by_convoy(const Variables& variables) {
  if (!variables.has("CONVOY_RANK")) return std::nullopt;
  const auto number = [&](const char* name) {
    return variables.required(name, "CONVOY_RANK");
  };
  Place place{.duty = Duty::rank, .starter = Starter::convoy};
  place.rank = number("CONVOY_RANK");
  place.ranks = number("CONVOY_RANKS");
  place.local_rank = number("CONVOY_LOCAL_RANK");
  place.local_ranks = number("CONVOY_LOCAL_RANKS");
  place.node = number("CONVOY_NODE_RANK");
  place.nodes = number("CONVOY_NODES");
  place.master_address = variables.text("CONVOY_MASTER_ADDR").value_or("127.0.0.1");
  place.master_port = number("CONVOY_MASTER_PORT");
  return place;
}

std::optional<Place> place_by_torchrun(const Variables& variables) {
  for (const char* name : {"WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) {
    if (variables.has(name)) variables.required("RANK", name);
  }
  if (!variables.has("RANK")) return std::nullopt;
  Place place{.duty = Duty::rank, .starter = Starter::torchrun};
  place.rank = variables.required("RANK", "RANK");
  place.ranks = variables.required("WORLD_SIZE", "RANK");
  take_master(variables, place);
  // Set by hand, without local numbers, a loopback address tells that all are here.
  const bool local_numbers = variables.has("LOCAL_WORLD_SIZE");
  const bool here = place.master_address.starts_with("127.") ||
                    place.master_address == "localhost" || place.ranks == 1;
  place.local_ranks = local_numbers ? variables.required("LOCAL_WORLD_SIZE", "RANK")
                                    : (here ? place.ranks : 1);
  place.local_rank =
      variables.number("LOCAL_RANK")
          .value_or(place.local_ranks > 0 ? place.rank % place.local_ranks : 0);
  place.node = variables.number("GROUP_RANK")
                   .value_or(place.local_ranks > 0 ? place.rank / place.local_ranks : 0);
  place.nodes = place.local_ranks > 0 ? place.ranks / place.local_ranks : 0;
  place.job = variables.text("TORCHELASTIC_RUN_ID").value_or("none");
  if (place.nodes > 1) {
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) {
      if (!variables.has(name)) variables.required(name, "RANK");
    }
  }
  const bool agent_listens =
      variables.text("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  if (agent_listens && place.master_port > 0) ++place.master_port;
  return place;
}

std::optional<Place> place_by_slurm(const Variables& variables) {
  // An interactive allocation's shell has the variables too, and is no task.
  const std::string name = variables.text("SLURM_JOB_NAME").value_or("");
  if (name == "bash" || name == "interactive") return std::nullopt;
  if (!variables.has("SLURM_PROCID")) return std::nullopt;
  Place place{.duty = Duty::rank, .starter = Starter::slurm};
  place.rank = variables.required("SLURM_PROCID", "SLURM_PROCID");
  place.ranks = variables.number("SLURM_STEP_NUM_TASKS").value_or(0);
  if (place.ranks == 0) place.ranks = variables.required("SLURM_NTASKS", "SLURM_PROCID");
  place.node = variables.number("SLURM_NODEID").value_or(0);
  place.nodes =
      variables.number("SLURM_STEP_NUM_NODES")
          .value_or(variables.number("SLURM_NNODES")
                        .value_or(variables.number("SLURM_JOB_NUM_NODES").value_or(1)));
  const auto tasks = variables.text("SLURM_STEP_TASKS_PER_NODE")
                         .value_or(variables.text("SLURM_TASKS_PER_NODE").value_or(""));
  place.local_ranks = tasks_on_node(tasks, place.node);
  if (place.local_ranks == 0) {
    place.local_ranks = variables.number("SLURM_NTASKS_PER_NODE")
                            .value_or(place.nodes > 0 ? place.ranks / place.nodes : 0);
  }
  place.local_rank = variables.required("SLURM_LOCALID", "SLURM_PROCID");
  place.job = variables.text("SLURM_JOB_ID").value_or("none");
  if (place.nodes > 1) {
    const auto hosts = variables.text("SLURM_STEP_NODELIST")
                           .value_or(variables.text("SLURM_JOB_NODELIST").value_or(""));
    place.master_address = first_host(hosts);
    place.master_port = port_of_job(place.job);
  }
  take_master(variables, place);
  place.job += "." + variables.text("SLURM_STEP_ID").value_or("0");
  return place;
}

std::optional<Place> place_by_open_mpi(const Variables& variables) {
  const std::string prefix = "OMPI_COMM_WORLD_";
  if (!variables.has(prefix + "RANK")) return std::nullopt;
  const auto number = [&](const char* name) {
    return variables.required(prefix + name, prefix + "RANK");
  };
  Place place{.duty = Duty::rank, .starter = Starter::open_mpi};
  place.rank = number("RANK");
  place.ranks = number("SIZE");
  place.local_rank = number("LOCAL_RANK");
  place.local_ranks = number("LOCAL_SIZE");
  const bool sound = place.local_ranks > 0;
  place.nodes = sound ? (place.ranks + place.local_ranks - 1) / place.local_ranks : 0;
  place.node = sound ? std::min(place.rank / place.local_ranks, place.nodes - 1) : 0;
  place.job = variables.text("PMIX_NAMESPACE").value_or("none");
  if (place.nodes > 1) {
    place.master_address.clear();  // Open MPI does not tell where rank 0 is
    place.master_port = kUsualPort;
  }
  take_master(variables, place);
  return place;
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
