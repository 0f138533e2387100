// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/memory.h"
#include "convoy/train/checkpoint.h"
#include "convoy/train/shared_evaluation.h"
#include "convoy/train/whitening.h"

namespace convoy {
namespace {

void declare_diverged(const Records& records, Outcome& outcome) {
  outcome.code = ExitCode::diverged;
  outcome.reason = fmt::format("the loss is not finite at step {} (epoch {})",
                               records.steps(), records.epoch());
}

}  // namespace

Trainer::Trainer(const Settings& settings, Comm& comm)
    : settings_(settings),
      comm_(comm),
      order_(chosen_lanes(settings, comm.ranks()), comm.ranks()),
      strategy_name_(chosen_strategy(settings, comm.ranks())),
      work_(load_training_workload(settings)),
      team_(chosen_threads(settings)),
      values_(work_.layout),
      statistics_(work_.statistics_layout),
      network_(work_.model, work_.layout,
               chosen_network(settings,
                              Lanes::most_samples(
                                  static_cast<std::size_t>(settings.train.batch_size),
                                  order_.lanes())),
               team_),
      lanes_(network_, work_.layout, own_lanes(), team_),
      evaluator_(work_.model, work_.layout, chosen_evaluation(settings), team_),
      optimizer_(work_.layout, chosen_sgd(settings, work_.layout), team_),
      async_(comm),
      strategy_(make_strategy(strategy_name_, replica(), {comm, async_, order_},
                              chosen_strategy_options(settings))),
      own_work_(*strategy_, work_.layout.segments().size(),
                chosen_delay(settings, comm.rank(), comm.ranks())),
      agreement_(async_, order_, comm.rank()),
      loader_(work_.data.train, work_.samples.train,
              training_loader(settings, work_, own_lanes())),
      schedule_(chosen_schedule(settings, steps_planned(), loader_.batches_per_epoch())) {
  set_first_values();
  if (settings.train.ema == 0) return;
  average_.emplace(work_.layout, settings.train.ema, team_);
  average_->update(0, {0, values_.size()}, values_);
  average_statistics_.emplace(work_.statistics_layout, settings.train.ema, team_);
  average_statistics_->update(0, {0, statistics_.size()}, statistics_);
}

void Trainer::set_first_values() {
  initialize(work_.layout, settings_.train.seed, values_, work_.model.first_weights);
  initialize_statistics(work_.statistics_layout, statistics_);
  if (settings_.train.whiten) {
    whiten(work_.data.train, work_.normalization, work_.layout,
           first_convolution(work_.layout), values_);
  }
  if (settings_.model.init.empty()) return;
  initial_ = load_initial_weights(
      settings_.model.init,
      {{work_.layout, values_}, {work_.statistics_layout, statistics_}});
}

Replica Trainer::replica() {
  return {.layout = work_.layout,
          .values = values_,
          .statistics = statistics_,
          .gradients = lanes_.gradients(),
          .found_statistics = lanes_.found_statistics(),
          .optimizer = optimizer_};
}

Outcome Trainer::train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                       const std::string& command) {
  const Stopwatch total;
  Records records(folder, progress,
                  {.epochs = settings_.train.epochs,
                   .steps_in_epoch = loader_.batches_per_epoch(),
                   .steps = steps_planned(),
                   .log_every = settings_.train.log_every,
                   .ranks = static_cast<std::size_t>(comm_.ranks()),
                   .rank = comm_.rank()});
  if (settings_.run.resources) resources_.emplace(comm_, folder);
  Outcome outcome;
  strategy_->begin();
  bool more = true;
  for (int epoch = 1; more && epoch <= settings_.train.epochs; ++epoch) {
    train_epoch(epoch, records, stop, outcome);
    const bool sound = outcome.code == ExitCode::done;
    more = sound && records.steps() < steps_planned();
    if (sound && !work_.samples.validation.empty()) evaluate("val", records, outcome);
    if (more && work_.samples.validation.empty()) evaluate("test", records, outcome);
  }
  if (outcome.code == ExitCode::done) outcome.test = evaluate("test", records, outcome);
  if (outcome.code == ExitCode::diverged) outcome.test.reset();
  records.say_pace();
  if (resources_) resources_->finish();
  const std::vector<RankTotals> ranks = agree_on_weights();
  if (progress != nullptr) progress->finish();
  if (folder == nullptr) return outcome;
  if (outcome.code != ExitCode::diverged) save(*folder, records);
  folder->flush();
  nlohmann::ordered_json json = summary(outcome, records, ranks, total.seconds());
  json["command"] = command;
  records.say(time_table(times(total.seconds())));
  records.summary(json);
  return outcome;
}

void Trainer::train_epoch(int epoch, Records& records, const StopRequest& stop,
                          Outcome& outcome) {
  const Stopwatch watch;
  records.start_epoch(epoch);
  loader_.start_epoch(epoch);
  while (const Batch* batch = loader_.next()) {
    const Stopwatch watch_of_step;
    const double rate = update(*batch, records.steps(), stop);
    const LossSum loss = finish_agreement();
    records.step(loss, watch_of_step.seconds(), rate, agreement_.reports());
    if (on_step_) on_step_(records.steps());
    if (is_over(records, loss, outcome)) break;
  }
  seconds_.training += watch.seconds();
  outcome.train = records.end_epoch();
}

/// One update, number `step` from 0. Returns the learning rate it was made with.
double Trainer::update(const Batch& batch, std::size_t step, const StopRequest& stop) {
  const StepRates rates = schedule_.at(step);
  optimizer_.start_step(step, rates);
  const PassKey key = {settings_.train.seed, static_cast<std::uint32_t>(step)};
  own_work_.begin(step);
  lanes_.run({{batch.images, batch.labels}, batch.whole}, values_, key, own_work_);
  start_agreement(stop);
  strategy_->step();
  lanes_.follow_statistics(batch.whole, statistics_);
  if (average_) {
    average_->update(step, {0, values_.size()}, values_);
    average_statistics_->update(step, {0, statistics_.size()}, statistics_);
  }
  return rates.rate;
}

/// Begins to tell all ranks of the step whose backward is over.
void Trainer::start_agreement(const StopRequest& stop) {
  StepReport& report = reporting_.next;
  report.stop_signal = stop.signal();
  report.own_seconds = own_work_.seconds();
  report.data_seconds = loader_.seconds_waited() - reporting_.data_seconds;
  reporting_.data_seconds = loader_.seconds_waited();
  report.gather_resources = resources_ && resources_->is_due() ? 1 : 0;
  agreement_.start(report, lanes_.losses());
}

/// Returns the loss of the whole batch. Now that nothing is under way, what this step's
/// exchange took can be counted, to be told with the next.
LossSum Trainer::finish_agreement() {
  const Stopwatch watch;
  const LossSum loss = agreement_.finish();
  seconds_.agreeing += watch.seconds();
  const double exposed = strategy_->seconds_exposed() + seconds_.agreeing;
  const Traffic traffic = comm_.total_traffic();
  const std::uint64_t sent = traffic.bytes_sent;
  reporting_.next.exposed_seconds = exposed - reporting_.exposed_seconds;
  reporting_.next.bytes_sent = sent - reporting_.bytes_sent;
  reporting_.exposed_seconds = exposed;
  reporting_.bytes_sent = sent;
  if (resources_) {
    resources_->after_step(traffic, agreement_.reports().front().gather_resources != 0);
  }
  return loss;
}

/// Whether the run ends after this step; says in `outcome` why, unless it is simply done.
bool Trainer::is_over(const Records& records, const LossSum& loss,
                      Outcome& outcome) const {
  if (!std::isfinite(loss.loss)) {
    declare_diverged(records, outcome);
  } else if (records.steps() == steps_planned()) {
    return true;
  } else if (agreement_.stop_signal() != 0) {
    outcome.code = ExitCode::stopped;
    outcome.reason = fmt::format("stopped by {} after step {} (epoch {})",
                                 stop_signal_name(agreement_.stop_signal()),
                                 records.steps(), records.epoch());
  }
  return outcome.code != ExitCode::done;
}

EvaluationResult Trainer::evaluate(std::string_view split, Records& records,
                                   Outcome& outcome) {
  const Stopwatch watch;
  const EvaluationSet set =
      split == "val"
          ? EvaluationSet{work_.data.train, work_.samples.validation, work_.normalization}
          : all_of(work_.data.test, work_.normalization);
  EvaluationResult result =
      convoy::evaluate(set, {values(), statistics()}, evaluator_, comm_);
  seconds_.evaluating += watch.seconds();
  records.evaluation(split, result.sum, watch.seconds());
  if (!std::isfinite(result.sum.loss)) declare_diverged(records, outcome);
  return result;
}

RankTotals Trainer::totals() const {
  const Traffic traffic = comm_.total_traffic();
  RankTotals own{.bytes_sent = traffic.bytes_sent,
                 .bytes_received = traffic.bytes_received,
                 .peak_rss_bytes = peak_memory_bytes(),
                 .exposed_seconds = strategy_->seconds_exposed() + seconds_.agreeing,
                 .slept_seconds = own_work_.seconds_slept()};
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

void Trainer::save(const RunFolder& folder, const Records& records) {
  const Stopwatch watch;
  const std::size_t consumed =
      std::min(records.steps_in_this_epoch() *
                   static_cast<std::size_t>(settings_.train.batch_size),
               loader_.samples_per_epoch());
  save_checkpoint(folder.path(),
                  {.model = settings_.model.name,
                   .data = settings_.data.name,
                   .step = records.steps(),
                   .epoch = records.epoch(),
                   .samples = consumed,
                   .seed = settings_.train.seed,
                   .normalization = work_.normalization},
                  {{work_.layout, values()}, {work_.statistics_layout, statistics()}});
  seconds_.checkpointing += watch.seconds();
}

std::size_t Trainer::steps_planned() const {
  const std::size_t all =
      loader_.batches_per_epoch() * static_cast<std::size_t>(settings_.train.epochs);
  const auto limit = static_cast<std::size_t>(settings_.train.max_steps);
  return limit == 0 ? all : std::min(all, limit);
}

}  // namespace convoy
