// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/training_loop.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/data/dataset.h"
#include "convoy/evaluate/shared_evaluation.h"
#include "convoy/monitor/imagenet_lines.h"
#include "convoy/monitor/tensor_histograms.h"
#include "convoy/train/whole_units.h"
#include "convoy/updates/save_times.h"

namespace convoy {
namespace {

RecordOptions record_options(const TrainingParts& parts) {
  const UpdateDescription& updates = parts.description();
  return {.epochs = parts.settings.train.epochs,
          .steps_in_epoch = updates.steps_per_epoch,
          .steps = parts.steps_planned(),
          .log_every = parts.settings.train.log_every,
          .ranks = updates.workers,
          .rank = parts.comm.rank(),
          .style = parts.settings.console.style,
          .clock = updates.clock};
}

}  // namespace

TrainingLoop::TrainingLoop(TrainingParts& parts, RunSaver& saver,
                           const RunOutputs& outputs, const StopRequest& stop)
    : parts_(parts),
      saver_(saver),
      outputs_(outputs),
      stop_(stop),
      watch_(clock()),
      events_(outputs.folder, parts.settings),
      records_(outputs.folder, outputs.progress, record_options(parts), &events_),
      summary_(parts, records_),
      loss_scale_(parts.rig.scaler()) {}

Outcome TrainingLoop::run() {
  watch_.restart();
  begin();
  evaluate_before_training();
  if (is_done()) train_epochs();
  if (is_done() && !outcome_.test) outcome_.test = evaluate("test");
  if (outcome_.code == ExitCode::diverged) outcome_.test.reset();
  finish();
  const std::vector<RankTotals> ranks = agreed_totals(parts_);
  outcome_.weights_sha256 = ranks.front().weights();
  finish_files();
  for (const std::string& line : parts_.updates->finish(outcome_.code, outcome_.reason)) {
    records_.say(line);
  }
  parts_
      .comm
      // No rank exits before everything is saved: some launchers end a job then.
      .barrier();
  if (outputs_.folder == nullptr) return outcome_;
  nlohmann::ordered_json json =
      summary_.to_json(outcome_, position_, ranks, watch_.seconds());
  json = loss_scale_.with_fields(std::move(json));
  json["command"] = outputs_.command;
  records_.say(time_table(summary_.times(watch_.seconds())));
  records_.summary(json);
  return outcome_;
}

void TrainingLoop::begin() {
  saver_.share_restored();
  loss_scale_.begin();
  if (outputs_.folder != nullptr) saver_.open(*outputs_.folder);
  const CheckpointState* from = saver_.restored();
  events_.begin(parts_.work.model, from != nullptr ? from->step : 0);
  if (parts_.settings.run.resources) resources_.emplace(parts_.comm, outputs_.folder);
  parts_.updates->begin();
}

/// The result is a point of the curves, and decides nothing.
void TrainingLoop::evaluate_before_training() {
  if (!parts_.settings.eval.before_training || saver_.restored() != nullptr) return;
  measure(parts_.monitored_split(), {.step = 0, .epoch = 0});
}

/// Epochs are evaluated on the validation set, or without one on the test set; the last
/// result on the test set is the outcome's.
void TrainingLoop::train_epochs() {
  bool more = begin_first_epoch();
  while (more) {
    train_epoch();
    if (!is_done()) return;
    const std::optional<EvaluationResult> evaluation = decide_after_epoch();
    if (!is_done()) return;
    more = position_.step < parts_.steps_planned() && evaluations_allow_more();
    if (!more && parts_.monitored_split() == "test") outcome_.test = evaluation;
    // What a checkpoint says is done has its records on disk, whenever a kill comes.
    if (outputs_.folder != nullptr) outputs_.folder->flush();
    saver_.save_epoch(save_point(), evaluation ? &evaluation->sum : nullptr,
                      /*is_last=*/!more || is_at_stop());
    more = more && begin_next_epoch();
  }
}

/// Whether there is an epoch to train. A run that ended within an epoch, at
/// train.max_steps, resumes within it.
bool TrainingLoop::begin_first_epoch() {
  const CheckpointState* from = saver_.restored();
  if (from == nullptr) return evaluations_allow_more();
  const auto batch = static_cast<std::size_t>(parts_.settings.train.batch_size);
  position_ = position_of(*from, batch);
  epoch_sum_ = outcome_.train = from->epoch_sum;
  records_.begin(position_);
  const bool at_end = from->samples >= parts_.description().samples_per_epoch;
  if (from->evaluated && at_end) return evaluations_allow_more() && begin_next_epoch();
  return position_.step_in_epoch > 0 || evaluations_allow_more();
}

bool TrainingLoop::begin_next_epoch() {
  if (position_.epoch >= parts_.settings.train.epochs) return false;
  if (is_at_stop()) {
    end_early(ExitCode::stopped, "stopped by train.stop_epoch");
    return false;
  }
  position_ = position_.next_epoch();
  epoch_sum_ = {};
  return true;
}

/// Trains from the position to the end of its epoch, or of the run.
void TrainingLoop::train_epoch() {
  const Stopwatch watch(clock());
  const double saving_before = saver_.seconds_blocked();
  records_.start_epoch();
  while (position_.step < parts_.steps_planned() &&
         position_.step_in_epoch < parts_.description().steps_per_epoch) {
    const NextUpdate next = next_update();
    if (const auto* end = std::get_if<NoMoreUpdates>(&next)) {
      const bool asked = end->reason.empty();
      end_early(asked ? ExitCode::stopped : ExitCode::rank_failed,
                asked ? stopped_by(stop_signal()) : end->reason);
      break;
    }
    const Update& update = std::get<Update>(next);
    take_in(update);
    if (!update.diverged) save_weights_if_due();
    if (ends_after(update)) break;
    save_if_due();
  }
  summary_.add_training(watch.seconds() - (saver_.seconds_blocked() - saving_before));
  end_epoch();
}

/// Requests one update.
NextUpdate TrainingLoop::next_update() {
  StepRequest request{.position = position_,
                      .rates = parts_.schedule.at(position_.step),
                      .stop_signal = [this] { return stop_signal(); },
                      .log = [this](const std::string& line) { records_.say(line); },
                      .gather_resources = resources_ && resources_->is_due(),
                      .is_recorded = records_.records_step(position_.step + 1)};
  request.rates.rate *= parts_.policy.rate_factor();
  return parts_.updates->next(request);
}

/// Names the files that were skipped since the last call.
void TrainingLoop::say_damaged_files() {
  for (const Dataset* data : {&parts_.work.data.train, &parts_.work.data.test}) {
    if (!data->files || !data->files->damaged) continue;
    for (const std::string& file : data->files->damaged->take_news()) {
      records_.say("skipped " + file);
    }
  }
}

/// Passes a completed update to everything that needs it.
void TrainingLoop::take_in(const Update& update) {
  position_.advance();
  say_damaged_files();
  if (const auto news = loss_scale_.news()) records_.say(*news);
  const bool overflowed = !std::isfinite(update.loss.loss) && !update.diverged;
  if (!overflowed) epoch_sum_ += update.loss;  // a skipped step has no loss
  learning_rate_ = update.rate;
  if (parts_.averages)
    parts_.averages->after_step({parts_.rig.values(), parts_.rig.statistics()});
  if (resources_) {
    Traffic traffic = parts_.comm.total_traffic();
    traffic += update.worker_traffic;
    resources_->after_step(traffic, update.gather_resources);
  }
  records_.step({.position = position_,
                 .loss = update.loss,
                 .epoch_sum = epoch_sum_,
                 .seconds = update.seconds,
                 .learning_rate = update.rate,
                 .reports = update.reports,
                 .first_reporter = update.first_reporter,
                 .gradient_norm = gradient_norm(),
                 .weight_norm = records_.records_step(position_.step)
                                    ? recorded_weight_norm()
                                    : std::nullopt,
                 .fields = loss_scale_.with_fields(update.fields)});
  if (outputs_.on_step) outputs_.on_step(position_.step);
}

/// A skipped step has none.
std::optional<double> TrainingLoop::gradient_norm() const {
  const ClipNorm* clip = parts_.rig.clip();
  const LossScaler* scaler = parts_.rig.scaler();
  if (clip == nullptr || (scaler != nullptr && scaler->is_skipping()))
    return std::nullopt;
  return clip->norm();
}

/// The weight norm of a record, where this rank writes records. Ranks that update a range
/// each compute it together.
std::optional<double> TrainingLoop::recorded_weight_norm() const {
  const bool needed =
      outputs_.folder != nullptr || has_divided_values(parts_.description());
  return needed ? std::optional(weight_norm(parts_)) : std::nullopt;
}

/// Whether the run ends after this update; sets the outcome, unless the run is complete.
bool TrainingLoop::ends_after(const Update& update) {
  if (update.diverged) {
    end_diverged();
  } else if (position_.step == parts_.steps_planned()) {
    return true;
  } else if (update.stop_signal != 0) {
    end_early(ExitCode::stopped, stopped_by(update.stop_signal));
  }
  return !is_done();
}

/// Weights are saved before a checkpoint of the same step: a run that resumes from it has
/// them.
void TrainingLoop::save_weights_if_due() {
  const bool due =
      saves_weights_after(position_.step_in_epoch, parts_.description().steps_per_epoch,
                          parts_.settings.checkpoint.saves_per_epoch);
  if (due) saver_.save_weights(position_);
}

void TrainingLoop::save_if_due() {
  const auto every = static_cast<std::size_t>(parts_.settings.checkpoint.every_steps);
  if (every > 0 && position_.step % every == 0) saver_.save(save_point());
  saver_.rethrow_failure();
}

/// If an epoch is interrupted, the process that continues it records all of it.
void TrainingLoop::end_epoch() {
  outcome_.train = epoch_sum_;
  const bool stopped =
      outcome_.code == ExitCode::stopped || outcome_.code == ExitCode::rank_failed;
  if (stopped) return;
  records_.end_epoch(position_, epoch_sum_, learning_rate_, recorded_weight_norm());
}

/// What follows an epoch: histograms, averages, and an evaluation if one is due.
std::optional<EvaluationResult> TrainingLoop::decide_after_epoch() {
  parts_.updates->synchronize();
  record_tensors();
  average_epoch();
  const bool due = position_.epoch % parts_.settings.eval.every_epochs == 0 ||
                   position_.step >= parts_.steps_planned();
  if (!due) return std::nullopt;
  return evaluate(parts_.monitored_split());
}

/// Writes histograms of every tensor, if they are due. Ranks that have parts of them make
/// units whole together.
void TrainingLoop::record_tensors() {
  const UpdateDescription& updates = parts_.description();
  const int every = parts_.settings.run.histograms;
  if (every == 0 || position_.epoch % every != 0) return;
  const Layout& layout = parts_.work.layout;
  const Sharding& sharding = updates.sharding;
  WholeUnits values(layout, parts_.rig.values(), sharding.values, sharding.pool,
                    parts_.comm);
  WholeUnits gradients(layout, *updates.gradients, sharding.gradients, sharding.pool,
                       parts_.comm);
  TensorHistograms histograms(layout, events_, position_.step);
  for_each_unit(values, layout,
                [&](UnitId unit) { histograms.add_weights(unit, parts_.rig.values()); });
  for_each_unit(gradients, layout,
                [&](UnitId unit) { histograms.add_gradients(unit, *updates.gradients); });
  records_.histograms(position_, histograms.json());
}

/// Adds the values to the average, if the epoch is complete and averaged.
void TrainingLoop::average_epoch() {
  const bool whole = position_.step_in_epoch == parts_.description().steps_per_epoch;
  auto& averages = parts_.averages;
  if (!averages || !whole) return;
  if (!averages->after_epoch(position_.epoch, parts_.rig.values())) return;
  const Stopwatch watch(clock());
  parts_.updates->update_bn(position_, averages->values(), averages->statistics());
  summary_.add_evaluating(watch.seconds());
}

EvaluationResult TrainingLoop::evaluate(std::string_view split) {
  EvaluationResult result = measure(split, position_);
  if (is_done() && split == parts_.monitored_split()) {
    parts_.policy.take_in(result.sum, position_.epoch, run_seconds());
  }
  return result;
}

/// Evaluates and records. A loss that is not finite ends the run.
EvaluationResult TrainingLoop::measure(std::string_view split,
                                       const TrainPosition& position) {
  const Stopwatch watch(clock());
  parts_.updates->synchronize();
  const EvaluationSet set = evaluation_set(parts_.work, split);
  const Sharding& sharding = parts_.description().sharding;
  WholeUnits units(parts_.work.layout, parts_.evaluated_values(), sharding.values,
                   sharding.pool, parts_.comm);
  EvaluationResult result = convoy::evaluate(set, parts_.weights(), parts_.evaluator,
                                             parts_.comm, units.listener());
  summary_.add_evaluating(watch.seconds());
  records_.evaluation(position, split, result.sum, watch.seconds(),
                      shown_batches(result.batches, set.batch_size()));
  say_damaged_files();
  if (!std::isfinite(result.sum.loss)) end_diverged();
  return result;
}

/// Whether the evaluations so far let the run continue; if not, the outcome says why.
bool TrainingLoop::evaluations_allow_more() {
  const std::optional<std::string> reason =
      parts_.policy.reason_to_end(parts_.monitored_split(), position_.epoch);
  if (!reason) return true;
  outcome_.reason = *reason;
  records_.say("the run ends: " + *reason);
  return false;
}

/// Seconds of the run so far, including those before it was resumed.
double TrainingLoop::run_seconds() const {
  const CheckpointState* from = saver_.restored();
  return watch_.seconds() + (from != nullptr ? from->course.seconds : 0);
}

/// Whether the run is to stop after this epoch, and to be resumed later.
bool TrainingLoop::is_at_stop() const {
  const int stop = parts_.settings.train.stop_epoch;
  return stop > 0 && position_.epoch >= stop;
}

/// The signal that asks this process to stop, or kTimeIsUp; 0: neither.
int TrainingLoop::stop_signal() const {
  const double limit = parts_.settings.train.max_minutes * 60;
  return limit > 0 && since_begin_.seconds() > limit ? kTimeIsUp : stop_.signal();
}

std::string TrainingLoop::stopped_by(int signal) const {
  if (signal != kTimeIsUp) return fmt::format("stopped by {}", stop_signal_name(signal));
  return fmt::format("stopped by train.max_minutes={}",
                     parts_.settings.train.max_minutes);
}

/// The run ends early, and can be resumed if checkpoints are saved.
void TrainingLoop::end_early(ExitCode code, const std::string& why) {
  outcome_.code = code;
  outcome_.reason = fmt::format(
      "{} after step {} (epoch {}): {}", why, position_.step, position_.epoch,
      parts_.settings.checkpoint.enabled ? "resume with train.resume=auto" : unsaved());
}

/// What it means that no checkpoint was saved.
std::string TrainingLoop::unsaved() const {
  const CheckpointState* from = saver_.restored();
  return "no checkpoint was saved (checkpoint.enabled=false): " +
         (from != nullptr
              ? fmt::format("nothing after step {} can be resumed", from->step)
              : "this run can be neither resumed nor evaluated again");
}

void TrainingLoop::end_diverged() {
  outcome_.code = ExitCode::diverged;
  const std::string place =
      fmt::format("at step {} (epoch {})", position_.step, position_.epoch);
  outcome_.reason = loss_scale_.reason_to_end(place);
  if (outcome_.reason.empty()) outcome_.reason = "the loss is not finite " + place;
}

void TrainingLoop::finish() {
  records_.say_straggler();
  for (const std::string& line : parts_.policy.findings(parts_.monitored_split())) {
    records_.say(line);
  }
  if (is_done()) records_.say_complete(run_seconds());
  if (resources_) resources_->finish();
  parts_.updates->synchronize();
}

/// Writes everything but the summary to disk.
void TrainingLoop::finish_files() {
  if (outputs_.progress != nullptr) outputs_.progress->finish();
  const SavePoint last = save_point();
  saver_.finish(outcome_.code == ExitCode::diverged ? nullptr : &last);
  if (outputs_.folder == nullptr) return;
  if (is_done() && !parts_.settings.checkpoint.enabled) records_.say(unsaved());
  summary_.set_checkpointing(saver_.seconds_blocked());
  outputs_.folder->flush();
  events_.finish(outcome_.code != ExitCode::stopped, is_done());
}

}  // namespace convoy
