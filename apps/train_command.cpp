// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "apps/commands.h"
#include "apps/rank.h"
#include "apps/resume_settings.h"
#include "apps/training.h"
#include "convoy/base/text.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/launch/launcher.h"
#include "convoy/launch/rank_variables.h"
#include "convoy/train/progress.h"
#include "convoy/train/settings_compare.h"
#include "convoy/train/settings_resolve.h"
#include "convoy/train/settings_schema.h"
#include "convoy/train/workload.h"

namespace convoy {
namespace {

struct TrainArguments {
  SettingArguments settings;
  bool dry_run = false;
};

/// A flag, with dashes or underscores, that sets a setting.
void add_setting_flag(CLI::App& command, TrainArguments& arguments,
                      const std::string& flags, const std::string& setting,
                      const std::string& help) {
  command.add_option_function<std::string>(
      flags,
      [&arguments, setting](const std::string& value) {
        arguments.settings.assignments.push_back(setting + "=" + value);
      },
      help + " (" + setting + ")");
}

void add_cluster_flags(CLI::App& command, TrainArguments& arguments) {
  const auto add = [&](const char* flags, const char* setting, const char* help) {
    add_setting_flag(command, arguments, flags, setting, help);
  };
  add("-n,--nproc-per-node,--nproc_per_node", "cluster.nproc_per_node",
      "ranks on each machine");
  add("--nnodes", "cluster.nnodes", "machines");
  add("--node-rank,--node_rank", "cluster.node_rank", "which of them this is, from 0");
  add("--master-addr,--master_addr", "cluster.master_addr", "address of machine 0");
  add("--master-port,--master_port", "cluster.master_port", "port there");
}

/// The settings of this process: a rank gets them from its launcher, as they were
/// resolved there.
ResumedSettings settings_of(const TrainArguments& arguments,
                            const Environment& environment) {
  const auto file = environment.find(kSettingsFile);
  if (!environment.contains("CONVOY_RANK") || file == environment.end()) {
    return resume_settings(arguments.settings);
  }
  return {.settings = resolve_settings({}, {"/proc/self/fd/" + file->second},
                                       {.names = known_names(), .folders = {}}),
          .notes = {}};
}

PlaceRequest place_request(const ClusterSettings& cluster) {
  return {.nproc_per_node = cluster.nproc_per_node,
          .nnodes = cluster.nnodes,
          .node_rank = cluster.node_rank,
          .master_addr = cluster.master_addr,
          .master_port = cluster.master_port};
}

/// Columns of the terminal that this process draws on; 0: it draws on none.
int drawing_width(const Environment& environment) {
  const auto told = environment.find(kTerminal);
  if (told != environment.end()) return std::atoi(told->second.c_str());
  return is_terminal(stdout) ? terminal_width(stdout) : 0;
}

ExitCode launch_ranks(const Settings& settings, const Place& place,
                      const std::vector<std::string>& command) {
  const auto milliseconds = [](double seconds) {
    return std::chrono::milliseconds(static_cast<long>(seconds * 1e3));
  };
  return launch({.place = place,
                 .arguments = command,
                 .settings = to_yaml(settings),
                 .compared = compared_settings(settings),
                 .join_timeout = milliseconds(settings.cluster.timeout),
                 .silence = milliseconds(settings.cluster.operation_timeout),
                 .pin = settings.cluster.pin,
                 .threads = settings.cluster.threads,
                 .terminal_width = is_terminal(stdout) ? terminal_width(stdout) : 0});
}

ExitCode train(const TrainArguments& arguments, const std::vector<std::string>& command) {
  const Environment environment = current_environment();
  const auto [settings, notes] = settings_of(arguments, environment);
  const Place place = find_place(place_request(settings.cluster), environment);
  if (place.rank == 0) {
    for (const std::string& note : notes) fmt::print("{}\n", note);
    std::fflush(stdout);  // before what ranks print
  }
  if (arguments.dry_run) {
    say_plan(settings, place);
    return ExitCode::done;
  }
  const TrainingView view{.command_line = join(command, " "),
                          .terminal_width = drawing_width(environment)};
  switch (place.duty) {
    case Duty::launch:
      return launch_ranks(settings, place, command);
    case Duty::rank:
      return join_and_train(settings, place, view);
    case Duty::alone:
      break;
  }
  AloneComm alone;
  return run_training(settings, alone, view);
}

}  // namespace

void add_train_command(CLI::App& app, Action& action,
                       const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand("train", "Train a model");
  command->footer(
      "Examples:\n"
      "  convoy train experiment=fashion_lenet5\n"
      "  convoy train model=cnn1 data=mnist train.epochs=2 optimizer.lr=0.05\n"
      "  convoy train -n 4 model=vgg11 data=cifar10    on four processes\n"
      "  convoy train --config runs/NAME/config.yaml   repeats a run\n"
      "  convoy train train.resume=runs/NAME           goes on with one\n\n" +
      settings_help(known_names()));
  arguments->settings.add_to(*command);
  add_cluster_flags(*command, *arguments);
  command->add_flag("--dry-run", arguments->dry_run,
                    "print the resolved settings and the plan, train nothing");
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] { return train(*arguments, command_line); };
  });
}

}  // namespace convoy
