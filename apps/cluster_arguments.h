// SPDX-License-Identifier: Apache-2.0
//
// What commands that run on several ranks share: their flags, and who does what.

#pragma once

#include <string>
#include <vector>

#include "apps/commands.h"
#include "convoy/job/job_placement.h"

namespace convoy {

/// Adds -n, --nnodes and the other flags that set `cluster.*`.
void add_cluster_flags(CLI::App& command, SettingArguments& settings);

/// Whether this process is a rank that our launcher has given its settings to.
bool has_given_settings(const Environment& environment);

/// Those. Requires: there are some.
Settings given_settings(const Environment& environment);

/// What this process does in the training that the settings describe. With a strategy of
/// parameter servers there are `ps.servers` of them.
JobPlacement placement_of(const Settings& settings, const Environment& environment);

/// What it does in a job whose ranks are all alike, whatever the strategy.
JobPlacement placement_without_servers(const Settings& settings,
                                       const Environment& environment);

/// Columns of the terminal that this process draws on; 0: it draws on none.
int drawing_width(const Environment& environment);

/// Starts the ranks of this node with the same command line. `quietly`: says nothing
/// about it.
ExitCode launch_ranks(const Settings& settings, const JobPlacement& placement,
                      const std::vector<std::string>& command_line, bool quietly);

}  // namespace convoy
