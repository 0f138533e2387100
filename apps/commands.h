// SPDX-License-Identifier: Apache-2.0
//
// The commands: each registers itself and, when selected, runs.

#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/setup/setting_arguments.h"

namespace convoy {

/// Runs the selected command; returns how it ended.
using Action = std::function<ExitCode()>;

/// Adds "name=value" arguments and --config.
void add_setting_flags(CLI::App& command, SettingArguments& arguments);
/// Adds --config alone.
void add_config_flag(CLI::App& command, SettingArguments& arguments);

/// The command line is written to the run's summary, and passed to the ranks that it
/// starts.
void add_train_command(CLI::App& app, Action& action,
                       const std::vector<std::string>& command_line);
void add_eval_command(CLI::App& app, Action& action,
                      const std::vector<std::string>& command_line);
void add_landscape_command(CLI::App& app, Action& action,
                           const std::vector<std::string>& command_line);
void add_compare_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_board_command(CLI::App& app, Action& action);
void add_fit_command(CLI::App& app, Action& action);
void add_models_command(CLI::App& app, Action& action);
void add_data_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_simulate_command(CLI::App& app, Action& action,
                          const std::vector<std::string>& command_line);
void add_sweep_command(CLI::App& app, Action& action);
void add_kfold_command(CLI::App& app, Action& action);
void add_pack_command(CLI::App& data_command, Action& action);
void add_predict_command(CLI::App& app, Action& action);
void add_bench_collective(CLI::App& bench_command, Action& action);

}  // namespace convoy
