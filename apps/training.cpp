// SPDX-License-Identifier: Apache-2.0

#include "apps/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "convoy/base/cpu.h"
#include "convoy/comm/planned_comm.h"
#include "convoy/train/resume.h"
#include "convoy/train/trainer.h"
#include "convoy/train/version.h"

namespace convoy {
namespace {

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

/// Goes on in the folder that train.resume names, or makes a new one.
RunFolder run_folder(const Settings& settings, const Trainer& trainer, int ranks) {
  const bool goes_on = is_run_folder(settings.train.resume);
  RunFolder folder =
      goes_on ? RunFolder::open(settings.train.resume)
              : RunFolder::create(settings.run.dir, settings.run.name,
                                  default_run_name(settings.model.name,
                                                   chosen_strategy(settings, ranks),
                                                   std::time(nullptr)));
  folder.write_config(to_yaml(repeatable(settings, ranks)));
  folder.log(version_details());
  folder.log(trainer.plan());
  if (!goes_on) return folder;
  const std::size_t forgotten = folder.forget_after(trainer.first_step());
  if (forgotten > 0) {
    folder.log(fmt::format("{} records of steps after {} are made again", forgotten,
                           trainer.first_step()));
  }
  return folder;
}

ExitCode train_as_first(const Settings& settings, Trainer& trainer,
                        const StopRequest& stop, const TrainingView& view, int ranks) {
  RunFolder folder = run_folder(settings, trainer, ranks);
  if (view.on_folder) view.on_folder(folder.path());
  say(fmt::format("{}run       {}\n\n", trainer.plan(), folder.path().string()));
  Progress progress(stdout, view.terminal_width > 0, view.terminal_width);
  const Outcome outcome = trainer.train(&folder, &progress, stop, view.command_line);
  say_outcome(outcome, folder);
  return outcome.code;
}

}  // namespace

ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view) {
  Trainer trainer(settings, comm);
  trainer.tell_steps_to(view.on_step);
  // From here on Ctrl-C ends the run cleanly; before, it just ends.
  const StopRequest stop;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away does not end the run
  if (comm.is_first()) {
    return train_as_first(settings, trainer, stop, view, comm.ranks());
  }
  return trainer.train(nullptr, nullptr, stop, view.command_line).code;
}

void say_plan(Settings settings, const Place& place) {
  fmt::print("{}\n", to_yaml(settings));
  if (settings.cluster.threads == 0) {
    settings.cluster.threads = std::max(1, cpu_info().cores / place.local_ranks);
  }
  PlannedComm comm(place.rank, place.ranks);
  fmt::print("{}place     {}\n", Trainer(settings, comm).plan(), describe(place));
}

}  // namespace convoy
