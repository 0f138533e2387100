// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>

#include "convoy/base/error.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/planned_comm.h"
#include "convoy/compare/logbook.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/monitor/progress.h"
#include "convoy/ps/server_updates.h"
#include "convoy/run/fitting_batch.h"
#include "convoy/run/result_files.h"
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

/// Logs which settings differ from those that the run in this folder had.
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

/// Continues in the folder that train.resume names, or makes a new one.
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
  write_model(trainer.work().model, folder);
  folder.log(version);
  folder.log(trainer.plan());
  for (const std::string& text : trainer.damaged()) folder.log(text);
  if (goes_on) forget_later_records(trainer, folder);
  return folder;
}

/// Passes the messages about uploads to the run's logs.
void log_uploads(Uploads& uploads, RunFolder& folder, Progress* progress) {
  for (const std::string& line : uploads.take_messages()) {
    if (progress != nullptr) progress->line(line);
    folder.log(line);
  }
}

/// Uploads checkpoints from now on; messages are logged after a step.
std::shared_ptr<Uploads> start_uploads(const Settings& settings, const TrainingView& view,
                                       Trainer& trainer, RunFolder& folder,
                                       Progress* progress) {
  if (settings.checkpoint.upload.empty()) return nullptr;
  auto uploads = std::make_shared<Uploads>(settings.checkpoint, folder.name());
  // The trainer's writer may submit a checkpoint even while an error ends the run.
  trainer.tell_checkpoints_to(
      [uploads](const auto& path, const auto& order) { uploads->submit(path, order); });
  trainer.tell_steps_to(
      [uploads, &folder, progress, on_step = view.on_step](std::size_t step) {
        if (on_step) on_step(step);
        log_uploads(*uploads, folder, progress);
      });
  return uploads;
}

/// Waits for uploads in progress, and uploads the records. A run that is trained and
/// saved has succeeded, uploaded or not. Returns where everything is; nothing without
/// uploads.
RunUploads finish_uploads(Uploads* uploads, RunFolder& folder, Progress* progress) {
  if (uploads == nullptr) return {};
  folder.flush();
  RunUploads result{.place = uploads->place(), .failure = uploads->finish(folder.path())};
  log_uploads(*uploads, folder, progress);
  if (!result.failure.empty()) folder.log(result.failure);
  return result;
}

/// A run has succeeded even if its entry cannot be written.
void write_logbook(const Settings& settings, RunFolder& folder, const RunUploads& uploads,
                   RunLog& log) try {
  if (settings.run.logbook) append_to_logbook(folder.path(), uploads);
} catch (const InputError& error) {
  log.warn(fmt::format("the run has no entry in the log book: {}", error.what()));
}

void log_outcome(const Outcome& outcome, RunFolder& folder) {
  if (outcome.test) {
    folder.log(fmt::format("\n{}\n{}\n", evaluation_text(*outcome.test),
                           result_line(*outcome.test)));
  }
  folder.log(outcome.reason);
}

ExitCode train_as_first(const Settings& settings, Trainer& trainer,
                        const StopRequest& stop, const TrainingView& view, int ranks) {
  RunFolder folder = run_folder(settings, trainer, ranks, view.version);
  if (view.on_folder) view.on_folder(folder.path());
  view.log.planned(trainer.plan(), folder.path());
  Progress* progress = view.log.progress(/*is_first_rank=*/true);
  const std::shared_ptr<Uploads> uploads =
      start_uploads(settings, view, trainer, folder, progress);
  const Outcome outcome = trainer.train(&folder, progress, stop, view.command_line);
  log_outcome(outcome, folder);
  write_results(settings, outcome, folder, view.log);
  const RunUploads uploaded = finish_uploads(uploads.get(), folder, progress);
  if (!uploaded.failure.empty()) view.log.warn(uploaded.failure);
  write_logbook(settings, folder, uploaded, view.log);
  view.log.ended(outcome, folder.path());
  return outcome.code;
}

}  // namespace

ExitCode run_training(const Settings& settings, Comm& comm, const TrainingView& view,
                      const UpdateSourceFactory& make_updates) {
  Trainer trainer(settings, comm, make_updates, view.job);
  trainer.tell_steps_to(view.on_step);
  trainer.gather_kernel_sets();
  // From here on Ctrl-C ends the run cleanly; before, it ends the process.
  const StopRequest stop;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe does not end the run
  if (comm.is_first()) {
    return train_as_first(settings, trainer, stop, view, comm.ranks());
  }
  Progress* progress = view.log.progress(/*is_first_rank=*/false);
  return trainer.train(nullptr, progress, stop, view.command_line).code;
}

std::string planned_job(Settings settings, const JobPlacement& placement) {
  if (settings.cluster.threads == 0) {
    settings.cluster.threads = std::max(1, cpu_info().cores / placement.local_ranks);
  }
  const bool served = placement.servers > 0;
  PlannedComm comm(served ? 0 : placement.rank,
                   served ? placement.servers : placement.ranks);
  const UpdateSourceFactory make_updates =
      served ? server_updates({.workers = placement.workers()}) : make_local_updates;
  return fmt::format(
      "{}launch    {}\n",
      Trainer(settings, comm, make_updates, job_shape(settings, placement)).plan(),
      describe(placement));
}

}  // namespace convoy
