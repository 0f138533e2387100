// SPDX-License-Identifier: Apache-2.0

#include "apps/cluster_arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "convoy/base/clock.h"
#include "convoy/base/printable.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/job/rank_variables.h"
#include "convoy/launch/launcher.h"
#include "convoy/monitor/progress.h"
#include "convoy/settings/settings_compare.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/setup/workload.h"

namespace convoy {
namespace {

/// Adds a flag, with dashes or underscores, that sets a setting.
void add_setting_flag(CLI::App& command, SettingArguments& settings,
                      const std::string& flags, const std::string& setting,
                      const std::string& help) {
  command.add_option_function<std::string>(
      flags,
      [&settings, setting](const std::string& value) {
        settings.assignments.push_back(setting + "=" + value);
      },
      help + " (" + setting + ")");
}

JobPlacement placement_with(int servers, const ClusterSettings& cluster,
                            const Environment& environment) {
  return find_placement({.nproc_per_node = cluster.nproc_per_node,
                         .nnodes = cluster.nnodes,
                         .node_rank = cluster.node_rank,
                         .master_addr = cluster.master_addr,
                         .master_port = cluster.master_port,
                         .servers = servers},
                        environment);
}

}  // namespace

void add_cluster_flags(CLI::App& command, SettingArguments& settings) {
  const auto add = [&](const char* flags, const char* setting, const char* help) {
    add_setting_flag(command, settings, flags, setting, help);
  };
  add("-n,--nproc-per-node,--nproc_per_node", "cluster.nproc_per_node",
      "ranks per machine; with parameter servers, workers per machine");
  add("--nnodes", "cluster.nnodes", "number of machines");
  add("--node-rank,--node_rank", "cluster.node_rank", "rank of this machine, from 0");
  add("--master-addr,--master_addr", "cluster.master_addr", "address of machine 0");
  add("--master-port,--master_port", "cluster.master_port",
      "port of the rendezvous on machine 0");
}

bool has_given_settings(const Environment& environment) {
  return environment.contains("CONVOY_RANK") && environment.contains(kSettingsFile);
}

Settings given_settings(const Environment& environment) {
  return resolve_settings({}, {"/proc/self/fd/" + environment.at(kSettingsFile)},
                          {.names = known_names(), .folders = {}});
}

ClusterSettings cluster_settings(const SettingArguments& settings) {
  SettingArguments own;
  std::ranges::copy_if(
      settings.assignments, std::back_inserter(own.assignments),
      [](const std::string& assignment) { return assignment.starts_with("cluster."); });
  return own.resolve().cluster;
}

Settings settings_of_run(const SettingArguments& arguments,
                         const std::filesystem::path& config) {
  SettingArguments all = arguments;
  all.run_config = config;
  Settings settings = all.resolve();
  settings.cluster = cluster_settings(arguments);
  return settings;
}

JobPlacement placement_of(const Settings& settings, const Environment& environment) {
  return placement_with(is_served(settings) ? settings.ps.servers : 0, settings.cluster,
                        environment);
}

int drawing_width(const Environment& environment) {
  const auto width = environment.find(kTerminal);
  if (width != environment.end()) return std::atoi(width->second.c_str());
  return is_terminal(stdout) ? terminal_width(stdout) : 0;
}

ExitCode launch_ranks(const Settings& settings, const JobPlacement& placement,
                      const std::vector<std::string>& command_line, bool quietly) {
  const bool draws = is_terminal(stdout) && !quietly;
  return launch({.placement = placement,
                 .arguments = command_line,
                 .settings = to_yaml(settings),
                 .join = {.compared = compared_settings(settings),
                          .timeout = milliseconds_of(settings.cluster.timeout),
                          .silence = milliseconds_of(settings.cluster.operation_timeout),
                          .shared_folder = settings.run.dir},
                 .pin = settings.cluster.pin,
                 .threads = settings.cluster.threads,
                 .restarts = settings.ps.restarts,
                 .terminal_width = draws ? terminal_width(stdout) : 0,
                 .quietly = quietly});
}

ExitCode work_on_ranks(const Settings& settings, const Environment& environment,
                       const std::vector<std::string>& command_line,
                       const RankAction& action) {
  const JobPlacement placement = placement_with(0, settings.cluster, environment);
  if (placement.role == ProcessRole::launch) {
    return launch_ranks(settings, placement, command_line, /*quietly=*/false);
  }
  if (placement.role == ProcessRole::rank) {
    return join_and_work(
        settings, placement, job_callbacks(),
        [&](const Settings& own, Comm& comm, Membership&) { return action(own, comm); });
  }
  AloneComm alone;
  return action(settings, alone);
}

JobCallbacks job_callbacks() {
  return {.warn =
              [](const std::string& text) {
                fmt::print(stderr, "convoy: {}\n", printable(text));
              },
          .end_process = [](ExitCode code) { ::_exit(static_cast<int>(code)); }};
}

}  // namespace convoy
