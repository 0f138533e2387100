// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

#include "convoy/base/printable.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/planned_comm.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/job/rank_variables.h"
#include "convoy/monitor/progress.h"
#include "convoy/ps/server_updates.h"
#include "convoy/run/uploads.h"
#include "convoy/settings/setting_changes.h"
#include "convoy/setup/setting_arguments.h"
#include "convoy/setup/workload.h"
#include "convoy/system/cpu.h"
#include "convoy/system/stop_request.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "convoy/updates/local_updates.h"

namespace convoy {
namespace {

/// Prints. A failed write ends no run; main() looks at the stream once it is over.
void say(const std::string& text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fflush(stdout);
}

void say_failure(const Outcome& outcome) {
  fmt::print(stderr, "convoy: {}\n", printable(outcome.reason));
  if (outcome.code == ExitCode::diverged) {
    fmt::print(stderr, "  hint: a smaller optimizer.lr often helps\n");
  }
}

void say_outcome(const Outcome& outcome, RunFolder& folder, ConsoleMode mode) {
  const bool normal = mode == ConsoleMode::normal;
  const std::string placement = "run folder " + folder.path().string();
  if (outcome.test) {
    const std::string result = result_line(*outcome.test);
    const std::string report =
        fmt::format("\n{}\n{}\n", evaluation_text(*outcome.test), result);
    folder.log(report);
    if (normal) say(report);
    if (mode == ConsoleMode::quiet) say(fmt::format("{}, {}\n", result, placement));
  }
  if (normal) say(placement + "\n");
  folder.log(outcome.reason);
  if (outcome.code != ExitCode::done) say_failure(outcome);
}

ProgressOptions progress_options(const TrainingView& view) {
  switch (view.mode) {
    case ConsoleMode::quiet:
      return {.style = ProgressStyle::quiet};
    case ConsoleMode::json:
      return {.style = ProgressStyle::json};
    case ConsoleMode::normal:
      break;
  }
  if (view.terminal_width == 0) return {.style = ProgressStyle::plain};
  return {.style = ProgressStyle::bar,
          .width = view.terminal_width,
          .colour = colours_are_wanted()};
}

/// Which settings are not those that the run in this folder had.
void log_changes(const Settings& settings, RunFolder& folder) {
  const std::filesystem::path config = folder.path() / "config.yaml";
  std::error_code none;
  if (!std::filesystem::exists(config, none)) return;  // killed before it was written
  const Settings before = SettingArguments{.run_config = config}.resolve();
  for (const SettingChange& change : setting_changes(before, settings)) {
    if (change.name != "run.name") folder.log(describe(change));
  }
}

void forget_later_records(const Trainer& trainer, RunFolder& folder) {
  const auto& from = trainer.restored();
  const std::size_t step = from ? from->step : 0;
  const std::size_t forgotten = folder.forget_after(step, from && from->evaluated);
  if (forgotten == 0) return;
  folder.log(fmt::format("{} records of steps after {} are made again", forgotten, step));
}

/// Goes on in the folder that train.resume names, or makes a new one.
RunFolder run_folder(const Settings& settings, const Trainer& trainer, int ranks,
                     const std::string& version) {
  const bool goes_on = is_run_folder(settings.train.resume);
  RunFolder folder =
      goes_on ? RunFolder::open(settings.train.resume)
              : RunFolder::create(
                    settings.run.dir, settings.run.name,
                    default_run_name(settings.model.name, strategy_name(settings, ranks),
                                     std::time(nullptr)));
  if (goes_on) log_changes(settings, folder);
  folder.write_config(to_yaml(repeatable(settings, trainer.microbatches())));
  folder.log(version);
  folder.log(trainer.plan());
  for (const std::string& text : trainer.damaged()) folder.log(text);
  if (goes_on) forget_later_records(trainer, folder);
  return folder;
}

/// A run's console and log, which its uploads share with it.
struct Voices {
  RunFolder& folder;
  Progress& progress;

  void say(const std::string& line) const {
    progress.line(line);
    folder.log(line);
  }
};

/// Checkpoints go up from now on; what there is to say of it is said after a step.
std::shared_ptr<Uploads> start_uploads(const Settings& settings, const TrainingView& view,
                                       Trainer& trainer, const Voices& voices) {
  if (settings.checkpoint.upload.empty()) return nullptr;
  auto uploads = std::make_shared<Uploads>(settings.checkpoint, voices.folder.name());
  // The trainer's writer may have one to submit even while an error ends the run.
  trainer.tell_checkpoints_to(
      [uploads](const auto& path, const auto& order) { uploads->submit(path, order); });
  trainer.tell_steps_to([uploads, voices, on_step = view.on_step](std::size_t step) {
    if (on_step) on_step(step);
    for (const std::string& text : uploads->take_messages()) voices.say(text);
  });
  return uploads;
}

/// Waits for what is under way. A run that is trained and saved is done, uploaded or not.
void finish_uploads(Uploads& uploads, const Voices& voices) {
  const std::string failure = uploads.finish();
  for (const std::string& text : uploads.take_messages()) voices.say(text);
  if (failure.empty()) return;
  voices.folder.log(failure);
  fmt::print(stderr, "convoy: {}\n", printable(failure));
}

ExitCode train_as_first(const Settings& settings, Trainer& trainer,
                        const StopRequest& stop, const TrainingView& view, int ranks) {
  RunFolder folder = run_folder(settings, trainer, ranks, view.version);
  if (view.on_folder) view.on_folder(folder.path());
  if (view.mode == ConsoleMode::normal) {
    say(fmt::format("{}run       {}\n\n", trainer.plan(), folder.path().string()));
  }
  Progress progress(stdout, progress_options(view));
  const Voices voices{folder, progress};
  const std::shared_ptr<Uploads> uploads = start_uploads(settings, view, trainer, voices);
  const Outcome outcome = trainer.train(&folder, &progress, stop, view.command_line);
  if (uploads) finish_uploads(*uploads, voices);
  say_outcome(outcome, folder, view.mode);
  return outcome.code;
}

}  // namespace

ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view,
                      const UpdateSourceFactory& make_updates) {
  Trainer trainer(settings, comm, make_updates);
  trainer.tell_steps_to(view.on_step);
  // From here on Ctrl-C ends the run cleanly; before, it just ends.
  const StopRequest stop;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away does not end the run
  if (comm.is_first()) {
    return train_as_first(settings, trainer, stop, view, comm.ranks());
  }
  Progress log(stdout, {.style = ProgressStyle::log, .line_prefix = kForTheLog});
  return trainer.train(nullptr, view.has_log ? &log : nullptr, stop, view.command_line)
      .code;
}

void say_plan(Settings settings, const JobPlacement& placement) {
  fmt::print("{}\n", printable(to_yaml(settings)));
  if (settings.cluster.threads == 0) {
    settings.cluster.threads = std::max(1, cpu_info().cores / placement.local_ranks);
  }
  const bool served = placement.servers > 0;
  PlannedComm comm(served ? 0 : placement.rank,
                   served ? placement.servers : placement.ranks);
  const UpdateSourceFactory make_updates =
      served ? server_updates({.workers = placement.workers()}) : make_local_updates;
  fmt::print("{}launch    {}\n", printable(Trainer(settings, comm, make_updates).plan()),
             describe(placement));
}

}  // namespace convoy
