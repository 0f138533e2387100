// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/cluster_arguments.h"
#include "apps/commands.h"
#include "apps/console_log.h"
#include "apps/version_details.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/benchmarks/step_bench.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/run/training.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/simulate/scaling_prediction.h"
#include "convoy/simulate/simulated_updates.h"
#include "convoy/train/trainer.h"

namespace convoy {
namespace {

struct SimulateArguments {
  SettingArguments settings;
  PredictOptions prediction;
  bool predict = false, dry_run = false, quiet = false;
};

/// Replaces a time that has to be measured by the measured number, so that the run's
/// settings repeat it.
Settings with_measured_time(Settings settings) {
  if (settings.sim.compute_ms != "measure") return settings;
  const StepBenchResult result = bench_step(settings, {.seconds = 1});
  settings.sim.compute_ms = fmt::format("{:.4f}", result.p50_ms);
  return settings;
}

int workers_of(const Settings& settings) {
  return std::max(1, settings.cluster.nproc_per_node) *
         std::max(1, settings.cluster.nnodes);
}

ExitCode simulate(const SimulateArguments& arguments,
                  const std::vector<std::string>& command) {
  const Settings settings = with_measured_time(arguments.settings.resolve());
  const UpdateSourceFactory make_updates = simulated_updates(workers_of(settings));
  AloneComm alone;
  if (arguments.dry_run) {
    fmt::print("{}\n{}", printable(to_yaml(settings)),
               printable(Trainer(settings, alone, make_updates).plan()));
    return ExitCode::done;
  }
  const bool as_json = arguments.prediction.as_json;
  ConsoleLog console({.mode = as_json           ? ConsoleMode::json
                              : arguments.quiet ? ConsoleMode::quiet
                                                : ConsoleMode::normal,
                      .terminal_width = drawing_width(current_environment()),
                      .style = settings.console.style});
  return run_training(
      settings, alone,
      {.command_line = join(command, " "), .version = version_details(), .log = console},
      make_updates);
}

void add_prediction(CLI::App& command, SimulateArguments& arguments) {
  PredictOptions& prediction = arguments.prediction;
  CLI::Option* predict = command.add_flag(
      "--predict", arguments.predict,
      "do not train; predict how every strategy scales, from a profile of this machine");
  command.add_option("--nodes", prediction.nodes, "numbers of machines (1,2,4,...,1024)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 16))
      ->needs(predict);
  command
      .add_option("--profile", prediction.profile,
                  "profile file: read if it exists, else measured and written")
      ->needs(predict);
  command
      .add_flag("--weak", prediction.weak, "weak scaling: train.batch_size is per node")
      ->needs(predict);
  command
      .add_option("--at-once", prediction.at_once,
                  "ranks that compute at once while measuring (default: those of a node)")
      ->check(CLI::Range(1, 64))
      ->needs(predict);
  command
      .add_option("--seconds", prediction.seconds,
                  "measuring time per pass in seconds (2)")
      ->check(CLI::Range(0.01, 3600.0))
      ->needs(predict);
}

}  // namespace

void add_simulate_command(CLI::App& app, Action& action,
                          const std::vector<std::string>& command_line) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Train on a virtual cluster, or predict how training scales");
  command->footer(
      "Examples:\n"
      "  convoy simulate -n 1000 experiment=fashion_async inject.delay=30\n"
      "  convoy simulate -n 8 strategy=ddp model=vgg11 data=cifar10 "
      "sim.bandwidth_gbps=1\n"
      "  convoy simulate --predict model=vgg11 train.batch_size=256\n\n" +
      settings_help(known_names()));
  add_setting_flags(*command, arguments->settings);
  add_cluster_flags(*command, arguments->settings);
  add_prediction(*command, *arguments);
  command->add_flag("--dry-run", arguments->dry_run,
                    "print the resolved settings and the plan without training");
  command->add_flag("--quiet", arguments->quiet, "print only the result");
  command->add_flag("--json", arguments->prediction.as_json,
                    "print JSON: the records and the summary, or the prediction");
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] {
      if (!arguments->predict) return simulate(*arguments, command_line);
      fmt::print("{}", predict(arguments->settings.resolve(), arguments->prediction));
      return ExitCode::done;
    };
  });
}

}  // namespace convoy
