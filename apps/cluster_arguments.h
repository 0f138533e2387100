// SPDX-License-Identifier: Apache-2.0
//
// What commands that run on several ranks share: flags, placement, launching, callbacks.

#pragma once

#include <string>
#include <vector>

#include "apps/commands.h"
#include "convoy/job/job_placement.h"
#include "convoy/run/job_session.h"

namespace convoy {

/// Adds -n, --nnodes and the other flags that set `cluster.*`.
void add_cluster_flags(CLI::App& command, SettingArguments& settings);

/// Whether this process is a rank that got its settings from convoy's launcher.
bool has_given_settings(const Environment& environment);

/// Returns the settings from convoy's launcher. Requires: has_given_settings().
Settings given_settings(const Environment& environment);

/// Returns the cluster settings of the command line. The number of ranks and threads of
/// the training does not matter.
ClusterSettings cluster_settings(const SettingArguments& settings);

/// Returns the settings of a run, read from `config` and overridden by the command line.
/// Those about ranks and threads are the command line's alone.
Settings settings_of_run(const SettingArguments& arguments,
                         const std::filesystem::path& config);

/// Returns the placement of this process in the training that the settings describe. If
/// the strategy uses parameter servers, there are `ps.servers` of them.
JobPlacement placement_of(const Settings& settings, const Environment& environment);

/// Returns the columns of the terminal that this process prints to; 0: not a terminal.
int drawing_width(const Environment& environment);

/// Starts the ranks of this node with the same command line. `quietly`: does not print
/// the launch.
ExitCode launch_ranks(const Settings& settings, const JobPlacement& placement,
                      const std::vector<std::string>& command_line, bool quietly);

/// What every rank of a command does, alone or among others.
using RankAction = std::function<ExitCode(const Settings&, Comm&)>;

/// Runs a command on the ranks that the settings ask for, without parameter servers: this
/// process launches them, is one of them, or works alone.
ExitCode work_on_ranks(const Settings& settings, const Environment& environment,
                       const std::vector<std::string>& command_line,
                       const RankAction& action);

/// Prints the messages of a job session to stderr, and ends the process on request.
JobCallbacks job_callbacks();

}  // namespace convoy
