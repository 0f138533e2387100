// SPDX-License-Identifier: Apache-2.0
//
// The commands: each adds itself to the command line and, when chosen, runs.

#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/setup/setting_arguments.h"

namespace convoy {

/// What the chosen command does; returns how it ended.
using Action = std::function<ExitCode()>;

/// "name=value" and --config.
void add_setting_flags(CLI::App& command, SettingArguments& arguments);

/// The command line is kept in the run's summary, and given to the ranks that it starts.
void add_train_command(CLI::App& app, Action& action,
                       const std::vector<std::string>& command_line);
void add_eval_command(CLI::App& app, Action& action,
                      const std::vector<std::string>& command_line);
void add_models_command(CLI::App& app, Action& action);
void add_data_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_simulate_command(CLI::App& app, Action& action,
                          const std::vector<std::string>& command_line);
void add_bench_collective(CLI::App& bench_command, Action& action);

}  // namespace convoy
