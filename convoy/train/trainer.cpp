// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/memory.h"
#include "convoy/base/text.h"
#include "convoy/train/checkpoint.h"
#include "convoy/train/version.h"
#include "convoy/train/whitening.h"

namespace convoy {
namespace {

void declare_diverged(const Records& records, Outcome& outcome) {
  outcome.code = ExitCode::diverged;
  outcome.reason = fmt::format("the loss is not finite at step {} (epoch {})",
                               records.steps(), records.epoch());
}

}  // namespace

Trainer::Trainer(const Settings& settings)
    : settings_(settings),
      work_(load_training_workload(settings)),
      team_(chosen_threads(settings)),
      values_(work_.layout),
      gradients_(work_.layout),
      statistics_(work_.statistics_layout),
      network_(work_.model, work_.layout,
               chosen_network(settings,
                              Lanes::most_samples(
                                  static_cast<std::size_t>(settings.train.batch_size),
                                  chosen_lanes(settings))),
               team_),
      lanes_(network_, work_.layout, chosen_lanes(settings), team_),
      evaluator_(work_.model, work_.layout, chosen_evaluation(settings), team_),
      optimizer_(work_.layout, chosen_sgd(settings, work_.layout), team_),
      strategy_(values_, gradients_, optimizer_),
      loader_(work_.data.train, work_.samples.train, training_loader(settings, work_)),
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

Outcome Trainer::train(RunFolder& folder, Progress& progress, const StopRequest& stop,
                       const std::string& command) {
  const Stopwatch total;
  Records records(folder, progress,
                  {.epochs = settings_.train.epochs,
                   .steps_in_epoch = loader_.batches_per_epoch(),
                   .steps = steps_planned(),
                   .log_every = settings_.train.log_every});
  Outcome outcome;
  bool more = true;
  for (int epoch = 1; more && epoch <= settings_.train.epochs; ++epoch) {
    train_epoch(epoch, records, stop, outcome);
    const bool sound = outcome.code == ExitCode::done;
    more = sound && records.steps() < steps_planned();
    if (sound && !work_.samples.validation.empty()) evaluate("val", records, outcome);
    if (more && work_.samples.validation.empty()) evaluate("test", records, outcome);
  }
  if (outcome.code == ExitCode::done) outcome.test = evaluate("test", records, outcome);
  if (outcome.code == ExitCode::diverged) {
    outcome.test.reset();
  } else {
    save(folder, records);
  }
  progress.finish();
  folder.flush();
  folder.write_summary(summary(outcome, records, command, total.seconds()));
  return outcome;
}

void Trainer::train_epoch(int epoch, Records& records, const StopRequest& stop,
                          Outcome& outcome) {
  const Stopwatch watch;
  records.start_epoch(epoch);
  loader_.start_epoch(epoch);
  while (const Batch* batch = loader_.next()) {
    const Stopwatch watch_of_step;
    LossSum loss;
    const double rate = update(*batch, records.steps(), loss);
    records.step(loss, watch_of_step.seconds(), rate);
    if (is_over(records, loss, stop, outcome)) break;
  }
  seconds_.training += watch.seconds();
  outcome.train = records.end_epoch();
}

/// One update, number `step` from 0. Returns the learning rate it was made with.
double Trainer::update(const Batch& batch, std::size_t step, LossSum& loss) {
  const StepRates rates = schedule_.at(step);
  optimizer_.set_learning_rate(static_cast<float>(rates.rate));
  optimizer_.set_momentum(static_cast<float>(rates.momentum));
  const PassKey key = {settings_.train.seed, static_cast<std::uint32_t>(step)};
  loss = lanes_.run({batch.images, batch.labels}, values_, key, gradients_, statistics_,
                    strategy_);
  strategy_.step();
  if (average_) {
    average_->update(step, {0, values_.size()}, values_);
    average_statistics_->update(step, {0, statistics_.size()}, statistics_);
  }
  return rates.rate;
}

/// Whether the run ends after this step; says in `outcome` why, unless it is simply done.
bool Trainer::is_over(const Records& records, const LossSum& loss,
                      const StopRequest& stop, Outcome& outcome) const {
  if (!std::isfinite(loss.loss)) {
    declare_diverged(records, outcome);
  } else if (records.steps() == steps_planned()) {
    return true;
  } else if (stop.requested()) {
    outcome.code = ExitCode::stopped;
    outcome.reason = fmt::format("stopped by {} after step {} (epoch {})",
                                 stop.signal_name(), records.steps(), records.epoch());
  }
  return outcome.code != ExitCode::done;
}

EvaluationResult Trainer::evaluate(std::string_view split, Records& records,
                                   Outcome& outcome) {
  const Stopwatch watch;
  const Weights weights = {values(), statistics()};
  EvaluationResult result =
      split == "val" ? evaluator_.run(work_.data.train, work_.samples.validation,
                                      work_.normalization, weights)
                     : evaluator_.run(work_.data.test, work_.normalization, weights);
  seconds_.evaluating += watch.seconds();
  records.evaluation(split, result.sum, watch.seconds());
  if (!std::isfinite(result.sum.loss)) declare_diverged(records, outcome);
  return result;
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

std::string Trainer::plan() const {
  const std::size_t buffer = work_.layout.size() * sizeof(float);
  const std::size_t lanes = chosen_lanes(settings_);
  std::string text;
  text +=
      fmt::format("model     {} for {} x {} x {} images, {} classes, {} parameters\n",
                  work_.model.name, work_.model.input.channels, work_.model.input.height,
                  work_.model.input.width, class_count(work_.model),
                  with_commas(work_.layout.parameter_count()));
  if (initial_) {
    text += fmt::format("init      {}: {}\n", settings_.model.init, initial_->summary());
  }
  text += fmt::format("data      {}: {} training, {} validation, {} test samples\n",
                      settings_.data.name, with_commas(work_.samples.train.size()),
                      with_commas(work_.samples.validation.size()),
                      with_commas(work_.data.test.size()));
  text += fmt::format("cluster   1 rank, strategy {}, {} threads, {} kernels\n",
                      settings_.strategy.name, team_.threads(), network_.kernels().name);
  text += fmt::format("batch     {} samples an update in {} lane{}\n",
                      settings_.train.batch_size, lanes, lanes == 1 ? "" : "s");
  text +=
      fmt::format("steps     {} an epoch, {} in all\n",
                  with_commas(loader_.batches_per_epoch()), with_commas(steps_planned()));
  text += fmt::format("schedule  {}, learning rate {:.4g} at first, {:.4g} at last\n",
                      settings_.schedule.name, schedule_.at(0).rate,
                      schedule_.at(steps_planned() - 1).rate);
  text += fmt::format(
      "memory    values {}, gradients {}, optimizer {},\n"
      "          activations {}, evaluation {}, data {}\n",
      human_bytes(buffer), human_bytes(buffer + lanes_.extra_bytes()),
      human_bytes(average_ ? 2 * buffer : buffer), human_bytes(network_.arena_bytes()),
      human_bytes(evaluator_.arena_bytes()),
      human_bytes(work_.data.train.images.size() + work_.data.test.images.size()));
  return text;
}

nlohmann::ordered_json Trainer::summary(const Outcome& outcome, const Records& records,
                                        const std::string& command,
                                        double total_seconds) const {
  using json = nlohmann::ordered_json;
  const StepTimes::Quantiles times = records.step_times().quantiles();
  const auto images = static_cast<double>(records.images());
  const double rate = seconds_.training > 0 ? images / seconds_.training : 0;
  json test = nullptr;
  if (outcome.test) {
    const LossSum& sum = outcome.test->sum;
    test = {{"loss", sum.mean_loss()},
            {"accuracy", sum.accuracy()},
            {"correct", sum.correct},
            {"total", sum.samples}};
  }
  return {
      {"version", version()},
      {"command", command},
      {"model", settings_.model.name},
      {"parameters", work_.layout.parameter_count()},
      {"data", settings_.data.name},
      {"strategy", settings_.strategy.name},
      {"ranks", 1},
      {"threads", team_.threads()},
      {"lanes", chosen_lanes(settings_)},
      {"batch_size", settings_.train.batch_size},
      {"epochs", records.epoch()},
      {"steps", records.steps()},
      {"train",
       {{"loss", outcome.train.mean_loss()}, {"accuracy", outcome.train.accuracy()}}},
      {"test", test},
      {"seconds",
       {{"total", total_seconds},
        {"training", seconds_.training},
        {"evaluating", seconds_.evaluating},
        {"checkpointing", seconds_.checkpointing},
        {"waiting_for_data", loader_.seconds_waited()},
        {"exposed_communication", 0.0}}},
      {"images_per_second", rate},
      {"step_ms", {{"p50", times.p50}, {"p90", times.p90}, {"max", times.max}}},
      {"communication", {{{"bytes_sent", 0}, {"bytes_received", 0}}}},
      {"peak_rss_bytes", {peak_memory_bytes()}},
      {"weights_sha256",
       weights_sha256(work_.layout, values(), work_.statistics_layout, statistics())},
      {"exit", {{"code", static_cast<int>(outcome.code)}, {"reason", outcome.reason}}}};
}

}  // namespace convoy
