// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/memory.h"
#include "convoy/evaluate/shared_evaluation.h"
#include "convoy/optimizer/registry.h"
#include "convoy/setup/whitening.h"

namespace convoy {
namespace {

void declare_diverged(const Records& records, Outcome& outcome) {
  outcome.code = ExitCode::diverged;
  outcome.reason = fmt::format("the loss is not finite at step {} (epoch {})",
                               records.steps(), records.epoch());
}

/// Before its time, so that it can be gone on with.
void declare_ended(ExitCode code, const std::string& why, const Records& records,
                   Outcome& outcome) {
  outcome.code = code;
  outcome.reason = fmt::format("{} after step {} (epoch {}): train.resume=auto goes on",
                               why, records.steps(), records.epoch());
}

}  // namespace

Trainer::Trainer(const Settings& settings, Comm& comm,
                 const UpdateSourceFactory& make_updates)
    : settings_(settings),
      comm_(comm),
      work_(load_training_workload(settings)),
      team_(thread_count(settings)),
      values_(work_.layout),
      statistics_(work_.statistics_layout),
      evaluator_(work_.model, work_.layout, evaluation_options(settings), team_),
      optimizer_(make_optimizer(settings.optimizer.name, work_.layout,
                                optimizer_options(settings, work_.layout), team_)),
      clip_(make_clip(settings, work_.layout, team_)),
      updates_(make_updates({settings_, comm, work_, team_, values_, statistics_,
                             *optimizer_, clip_ ? &*clip_ : nullptr})),
      schedule_(schedule_options(settings, steps_planned(),
                                 updates_->description().steps_per_epoch)),
      policy_(settings) {
  set_first_values();
  if (settings.train.ema > 0 || settings.train.swa_start > 0) {
    averages_.emplace(settings.train, work_.layout, work_.statistics_layout, team_);
  }
  if (!settings.train.resume.empty() && comm.is_first()) restore();
}

void Trainer::set_first_values() {
  initialize(work_.layout, settings_.train.seed, values_, work_.model.weight_init);
  initialize_statistics(work_.statistics_layout, statistics_);
  if (settings_.train.whiten) {
    whiten(work_.data.train, work_.normalization, work_.layout,
           first_convolution(work_.layout), values_);
  }
  if (settings_.model.init.empty() || begins_restored()) return;
  initial_ = load_initial_weights(
      settings_.model.init,
      {{work_.layout, values_}, {work_.statistics_layout, statistics_}});
}

Outcome Trainer::train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                       const std::string& command) {
  since_begin_.restart();
  const Stopwatch watch(*updates_->description().clock);
  if (!settings_.train.resume.empty()) share_restored();
  if (folder != nullptr && restored_) go_on_in(*folder);
  events_.emplace(folder, settings_);
  events_->begin(work_.model, restored_ ? restored_->step : 0);
  Records records(folder, progress,
                  {.epochs = settings_.train.epochs,
                   .steps_in_epoch = updates_->description().steps_per_epoch,
                   .steps = steps_planned(),
                   .log_every = settings_.train.log_every,
                   .ranks = updates_->description().workers,
                   .rank = comm_.rank(),
                   .clock = updates_->description().clock},
                  &*events_);
  if (settings_.run.resources) resources_.emplace(comm_, folder);
  if (folder != nullptr) {
    writer_.emplace(folder->path(), settings_.checkpoint.keep, on_saved_);
  }
  updates_->begin();
  Outcome outcome;
  train_epochs(records, stop, outcome);
  if (outcome.code == ExitCode::done && !outcome.test) {
    outcome.test = evaluate("test", records, outcome);
  }
  if (outcome.code == ExitCode::diverged) outcome.test.reset();
  records.say_straggler();
  if (resources_) resources_->finish();
  updates_->synchronize();
  const std::vector<RankTotals> ranks = agree_on_weights();
  if (progress != nullptr) progress->finish();
  if (folder != nullptr) finish_files(*folder, records, outcome);
  for (const std::string& line : updates_->finish(outcome.code, outcome.reason)) {
    records.say(line);
  }
  comm_.barrier();  // nobody leaves before all is saved: some starters end a job then
  if (folder == nullptr) return outcome;
  nlohmann::ordered_json json = summary(outcome, records, ranks, watch.seconds());
  json["command"] = command;
  records.say(time_table(times(watch.seconds())));
  records.summary(json);
  return outcome;
}

/// All but the summary is on disk afterwards.
void Trainer::finish_files(RunFolder& folder, const Records& records,
                           const Outcome& outcome) {
  if (outcome.code != ExitCode::diverged) save_at_end(records);
  seconds_.checkpointing = seconds_saving();
  writer_.reset();
  folder.flush();
  events_->finish(outcome.code != ExitCode::stopped, outcome.code == ExitCode::done);
}

/// Epochs are judged on the validation set, or without one on the test set, whose last
/// result is the outcome's.
void Trainer::train_epochs(Records& records, const StopRequest& stop, Outcome& outcome) {
  Position from = first_position();
  if (restored_) {
    outcome.train = restored_->epoch_sum;
    records.resume({.steps = restored_->step,
                    .epoch = restored_->epoch,
                    .steps_in_epoch = from.batch,
                    .epoch_sum = restored_->epoch_sum});
  }
  bool more =
      from.batch > 0 || goes_on(records, outcome);  // if it was to end, it is over
  for (; more && from.epoch <= settings_.train.epochs; from = {from.epoch + 1}) {
    train_epoch(from, records, stop, outcome);
    if (outcome.code != ExitCode::done) return;
    updates_->synchronize();
    events_->tensors(from.epoch, records.steps(), work_.layout, values_,
                     *updates_->description().gradients);
    average_epoch(records);
    std::optional<EvaluationResult> judged;
    if (is_judged(records)) judged = evaluate(judged_split(), records, outcome);
    if (outcome.code != ExitCode::done) return;
    more = records.steps() < steps_planned() && goes_on(records, outcome);
    if (!more && judged_split() == "test") outcome.test = judged;
    const bool best = judged && note_best(judged->sum, records);
    save_epoch(records, best, /*last=*/!more);
  }
}

/// Whether an evaluation follows the epoch that has just ended.
bool Trainer::is_judged(const Records& records) const {
  return records.epoch() % settings_.eval.every_epochs == 0 ||
         records.steps() >= steps_planned();
}

void Trainer::train_epoch(Position from, Records& records, const StopRequest& stop,
                          Outcome& outcome) {
  const Stopwatch watch(*updates_->description().clock);
  const double saving_before = seconds_saving();
  if (from.batch == 0) records.start_epoch(from.epoch);
  const auto every = static_cast<std::size_t>(settings_.checkpoint.every_steps);
  while (records.steps() < steps_planned() &&
         records.steps_in_this_epoch() < updates_->description().steps_per_epoch) {
    const NextUpdate next = update(records, stop);
    if (const auto* end = std::get_if<NoMoreUpdates>(&next)) {
      declare_cut_short(*end, records, stop, outcome);
      break;
    }
    const auto* made = &std::get<Update>(next);
    if (clip_) records.gradient_norm(clip_->norm());
    if (records.records_next()) records.more_fields(made->fields);
    records.step(made->loss, made->seconds, made->rate, made->reports,
                 made->first_reporter);
    if (on_step_) on_step_(records.steps());
    if (is_over(records, *made, outcome)) break;
    if (every > 0 && records.steps() % every == 0) save(records, /*evaluated=*/false);
    if (writer_) writer_->rethrow_failure();
  }
  seconds_.training += watch.seconds() - (seconds_saving() - saving_before);
  // An epoch that was stopped goes on in another process, which records all of it.
  const bool stopped =
      outcome.code == ExitCode::stopped || outcome.code == ExitCode::rank_failed;
  outcome.train = stopped ? records.epoch_sum() : records.end_epoch();
}

/// One update; none if no more will come.
NextUpdate Trainer::update(Records& records, const StopRequest& stop) {
  const std::size_t step = records.steps();
  StepRequest request{.position = {step, records.epoch(), records.steps_in_this_epoch()},
                      .rates = schedule_.at(step),
                      .stop_signal = [&] { return stop_signal(stop); },
                      .log = [&](const std::string& line) { records.say(line); },
                      .gather_resources = resources_ && resources_->is_due(),
                      .is_recorded = records.records_next()};
  request.rates.rate *= policy_.rate_factor();
  NextUpdate next = updates_->next(request);
  const auto* made = std::get_if<Update>(&next);
  if (made == nullptr) return next;
  if (averages_) averages_->after_step({values_, statistics_});
  if (resources_) {
    Traffic traffic = comm_.total_traffic();
    traffic += made->worker_traffic;
    resources_->after_step(traffic, made->gather_resources);
  }
  return next;
}

/// That asks this process to stop, or stands for its time being up; 0: neither.
int Trainer::stop_signal(const StopRequest& stop) const {
  const double limit = settings_.train.max_minutes * 60;
  return limit > 0 && since_begin_.seconds() > limit ? kTimeIsUp : stop.signal();
}

/// Takes the values into the average, if the epoch is whole and one of those averaged.
void Trainer::average_epoch(const Records& records) {
  const bool whole =
      records.steps_in_this_epoch() == updates_->description().steps_per_epoch;
  if (!averages_ || !whole || !averages_->after_epoch(records.epoch(), values_)) return;
  const Stopwatch watch(*updates_->description().clock);
  updates_->update_bn({records.steps(), records.epoch(), records.steps_in_this_epoch()},
                      averages_->values(), averages_->statistics());
  seconds_.evaluating += watch.seconds();
}

/// Whether the evaluations so far let the run go on; if not, says in `outcome` why.
bool Trainer::goes_on(Records& records, Outcome& outcome) const {
  if (outcome.code != ExitCode::done) return false;
  const std::optional<std::string> reason = policy_.reason_to_end(judged_split());
  if (!reason) return true;
  outcome.reason = *reason;
  records.say("the run ends: " + *reason);
  return false;
}

std::string Trainer::stopped_by(int signal) const {
  if (signal != kTimeIsUp) return fmt::format("stopped by {}", stop_signal_name(signal));
  return fmt::format("stopped by train.max_minutes={}", settings_.train.max_minutes);
}

/// No more updates come, for want of workers or because we were asked to stop.
void Trainer::declare_cut_short(const NoMoreUpdates& end, const Records& records,
                                const StopRequest& stop, Outcome& outcome) const {
  const bool asked = end.reason.empty();
  declare_ended(asked ? ExitCode::stopped : ExitCode::rank_failed,
                asked ? stopped_by(stop_signal(stop)) : end.reason, records, outcome);
}

/// Whether the run ends after this step; says in `outcome` why, unless it is simply done.
bool Trainer::is_over(const Records& records, const Update& update,
                      Outcome& outcome) const {
  if (update.diverged) {
    declare_diverged(records, outcome);
  } else if (records.steps() == steps_planned()) {
    return true;
  } else if (update.stop_signal != 0) {
    declare_ended(ExitCode::stopped, stopped_by(update.stop_signal), records, outcome);
  }
  return outcome.code != ExitCode::done;
}

EvaluationResult Trainer::evaluate(std::string_view split, Records& records,
                                   Outcome& outcome) {
  const Stopwatch watch(*updates_->description().clock);
  updates_->synchronize();
  const EvaluationSet set =
      split == "val"
          ? EvaluationSet{work_.data.train, work_.samples.validation, work_.normalization}
          : all_of(work_.data.test, work_.normalization);
  EvaluationResult result = convoy::evaluate(set, weights(), evaluator_, comm_);
  seconds_.evaluating += watch.seconds();
  records.evaluation(split, result.sum, watch.seconds());
  if (!std::isfinite(result.sum.loss)) {
    declare_diverged(records, outcome);
  } else if (split == judged_split()) {
    policy_.take_in(result.sum, records.epoch());
  }
  return result;
}

RankTotals Trainer::totals() const {
  const UpdateTelemetry telemetry = updates_->telemetry();
  Traffic traffic = comm_.total_traffic();
  traffic += telemetry.worker_traffic;
  RankTotals own{.bytes_sent = traffic.bytes_sent,
                 .bytes_received = traffic.bytes_received,
                 .peak_rss_bytes = peak_memory_bytes(),
                 .exposed_seconds = telemetry.exposed,
                 .slept_seconds = telemetry.slept};
  const std::string digest =
      weights_sha256(work_.layout, values(), work_.statistics_layout, statistics());
  std::ranges::copy(digest, own.weights_sha256.begin());
  return own;
}

/// What the ranks have to say at the end. They have the same weights, or there is a bug.
std::vector<RankTotals> Trainer::agree_on_weights() {
  std::vector<RankTotals> ranks = gather_totals(comm_, totals());
  const std::optional<std::size_t> other = rank_with_other_weights(ranks);
  check(!other, fmt::format("rank {} ends at the weights of rank 0", other.value_or(0)));
  return ranks;
}

std::size_t Trainer::steps_planned() const {
  const std::size_t all = updates_->description().steps_per_epoch *
                          static_cast<std::size_t>(settings_.train.epochs);
  const auto limit = static_cast<std::size_t>(settings_.train.max_steps);
  return limit == 0 ? all : std::min(all, limit);
}

}  // namespace convoy
