// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "apps/cluster_arguments.h"
#include "apps/console_log.h"
#include "apps/version_details.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/run/fitting_batch.h"
#include "convoy/run/rank.h"
#include "convoy/run/resume_settings.h"
#include "convoy/run/training.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/setup/workload.h"
#include "convoy/updates/local_updates.h"

namespace convoy {
namespace {

struct TrainArguments {
  SettingArguments settings;
  bool dry_run = false, quiet = false, as_json = false;
};

/// Returns the settings of this process; a rank gets the resolved settings from its
/// launcher.
ResumedSettings settings_of(const TrainArguments& arguments,
                            const Environment& environment) {
  if (!has_given_settings(environment)) return resume_settings(arguments.settings);
  return {.settings = given_settings(environment), .notes = {}, .warnings = {}};
}

ConsoleMode mode_of(const TrainArguments& arguments) {
  if (arguments.as_json) return ConsoleMode::json;
  return arguments.quiet ? ConsoleMode::quiet : ConsoleMode::normal;
}

void print_resume_notes(const ResumedSettings& resumed, ConsoleMode mode) {
  for (const std::string& text : resumed.warnings) {
    fmt::print(stderr, "convoy: {}\n", printable(text));
  }
  if (mode != ConsoleMode::normal) return;
  for (const std::string& note : resumed.notes) fmt::print("{}\n", printable(note));
  std::fflush(stdout);  // before the output of ranks
}

ExitCode train(const TrainArguments& arguments, const std::vector<std::string>& command) {
  const Environment environment = current_environment();
  const ResumedSettings resumed = settings_of(arguments, environment);
  const JobPlacement placement = placement_of(resumed.settings, environment);
  if (placement.rank == 0) print_resume_notes(resumed, mode_of(arguments));
  const Settings settings = with_fitting_batch(resumed.settings, placement);
  if (arguments.dry_run) {
    fmt::print("{}\n", printable(to_yaml(settings)));
    fmt::print("{}", printable(planned_job(settings, placement)));
    return ExitCode::done;
  }
  ConsoleLog console({.mode = mode_of(arguments),
                      .terminal_width = drawing_width(environment),
                      .style = settings.console.style,
                      .has_log = placement.launcher_kind == LauncherKind::convoy});
  const TrainingView view{.command_line = join(command, " "),
                          .version = version_details(),
                          .log = console,
                          .job = job_shape(settings, placement)};
  switch (placement.role) {
    case ProcessRole::launch:
      check_ranks(settings,
                  placement.servers > 0 ? placement.workers() : placement.ranks);
      return launch_ranks(settings, placement, command,
                          mode_of(arguments) != ConsoleMode::normal);
    case ProcessRole::rank:
      return join_and_train(settings, placement, job_callbacks(), view);
    case ProcessRole::alone:
      break;
  }
  AloneComm alone;
  return run_training(settings, alone, view, make_local_updates);
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
      "  convoy train train.resume=runs/NAME           resumes one\n\n" +
      settings_help(known_names()));
  add_setting_flags(*command, arguments->settings);
  add_cluster_flags(*command, arguments->settings);
  command->add_flag("--dry-run", arguments->dry_run,
                    "print the resolved settings and the plan without training");
  CLI::Option* quiet = command->add_flag("--quiet", arguments->quiet,
                                         "print only the result, warnings and errors");
  command
      ->add_flag("--json", arguments->as_json,
                 "print one JSON object per line: the records, then the summary")
      ->excludes(quiet);
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] { return train(*arguments, command_line); };
  });
}

}  // namespace convoy
