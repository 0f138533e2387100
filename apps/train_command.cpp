// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

#include "apps/commands.h"
#include "convoy/base/cpu.h"
#include "convoy/base/text.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/train/settings_schema.h"
#include "convoy/train/trainer.h"
#include "convoy/train/version.h"

namespace convoy {
namespace {

struct TrainArguments {
  SettingArguments settings;
  bool dry_run = false;
};

/// Prints. A failed write is ignored: a run does not end because nobody reads.
void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void say_outcome(const Outcome& outcome, RunFolder& folder) {
  if (outcome.test) {
    const LossSum& sum = outcome.test->sum;
    const std::string report =
        fmt::format("\n{}\n{}\ntest accuracy {:.2f} % ({}/{}), loss {:.4f}\n",
                    classification_report(outcome.test->matrix),
                    confusion_table(outcome.test->matrix), 100 * sum.accuracy(),
                    sum.correct, sum.samples, sum.mean_loss());
    say(report);
    folder.log(report);
  }
  say(fmt::format("run folder {}\n", folder.path().string()));
  folder.log(outcome.reason);
  if (outcome.code == ExitCode::done) return;
  fmt::print(stderr, "convoy: {}\n", outcome.reason);
  if (outcome.code == ExitCode::diverged) {
    fmt::print(stderr, "  hint: a smaller optimizer.lr often helps\n");
  }
}

ExitCode train(const TrainArguments& arguments, const std::string& command_line) {
  const Settings settings = arguments.settings.resolve();
  AloneComm comm;
  Trainer trainer(settings, comm);
  if (arguments.dry_run) {
    fmt::print("{}\n{}", to_yaml(settings), trainer.plan());
    return ExitCode::done;
  }
  // From here on Ctrl-C ends the run cleanly; before, it just ends.
  const StopRequest stop;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away does not end the run
  RunFolder folder = RunFolder::create(
      settings.run.dir, settings.run.name,
      default_run_name(settings.model.name, chosen_strategy(settings, comm.ranks()),
                       std::time(nullptr)));
  // The name is this run's alone: the file repeats the run under another one, with the
  // same lanes and so to the same bits on any number of ranks.
  Settings repeatable = settings;
  repeatable.run.name.clear();
  repeatable.train.lanes = static_cast<int>(chosen_lanes(settings, comm.ranks()));
  folder.write_config(to_yaml(repeatable));
  folder.log(version_details());
  folder.log(trainer.plan());
  say(fmt::format("{}run       {}\n\n", trainer.plan(), folder.path().string()));
  Progress progress(stdout, is_terminal(stdout), terminal_width(stdout));
  const Outcome outcome = trainer.train(&folder, &progress, stop, command_line);
  say_outcome(outcome, folder);
  return outcome.code;
}

}  // namespace

void add_train_command(CLI::App& app, Action& action, const std::string& command_line) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand("train", "Train a model");
  command->footer(
      "Examples:\n"
      "  convoy train experiment=fashion_lenet5\n"
      "  convoy train model=cnn1 data=mnist train.epochs=2 optimizer.lr=0.05\n"
      "  convoy train --config runs/NAME/config.yaml   repeats a run\n\n" +
      settings_help(known_names()));
  arguments->settings.add_to(*command);
  command->add_flag("--dry-run", arguments->dry_run,
                    "print the resolved settings and the plan, train nothing");
  command->callback([arguments, command_line, &action] {
    action = [arguments, command_line] { return train(*arguments, command_line); };
  });
}

}  // namespace convoy
