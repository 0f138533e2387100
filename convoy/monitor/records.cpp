// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/json.h"

namespace convoy {
namespace {

double rate(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

/// The maximum number of ranks for which a record has one entry each.
constexpr std::size_t kMostListed = 64;

nlohmann::ordered_json as_json(std::span<const RankTiming> ranks) {
  auto list = nlohmann::ordered_json::array();
  for (const RankTiming& rank : ranks) {
    list.push_back({{"own_ms", rank.own},
                    {"data_ms", rank.data},
                    {"exposed_ms", rank.exposed},
                    {"bytes_sent", rank.bytes_sent}});
  }
  return list;
}

}  // namespace

Records::Records(RunFolder* folder, Progress* progress, const RecordOptions& options,
                 EventRecords* events)
    : folder_(folder),
      progress_(progress),
      events_(events),
      options_(options),
      window_{.sum = {}, .times = {}, .watch = Stopwatch(*options.clock)},
      epoch_{.watch = Stopwatch(*options.clock)},
      timings_(options.ranks) {
  window_.times.clear();
}

void Records::start_epoch() {
  window_.sum = {};
  epoch_.images = images_;
  epoch_.steps = 0;
  epoch_.watch.restart();
  window_.watch.restart();
}

void Records::step(const StepRecord& step) {
  images_ += step.loss.samples;
  window_.sum += step.loss;
  window_.times.add(step.seconds);
  epoch_.steps += step.seconds;
  step_times_.add(step.seconds);
  timings_.add(step.reports, step.first_reporter);
  if (records_step(step.position.step)) write_step(step);
  if (is_imagenet() && records_step(step.position.step_in_epoch)) say_step(step);
  if (progress_ != nullptr) progress_->update(progress_state(step));
}

ProgressState Records::progress_state(const StepRecord& step) const {
  const double seconds = epoch_.before + epoch_.watch.seconds();
  const std::size_t steps = step.position.step;
  const double left =
      static_cast<double>(options_.steps - std::min(steps, options_.steps));
  const double all = static_cast<double>(options_.steps);
  ProgressState state = {
      .epoch = step.position.epoch,
      .epochs = options_.epochs,
      .step = step.position.step_in_epoch,
      .steps_in_epoch = options_.steps_in_epoch,
      .part_done = static_cast<double>(steps) / all,
      .loss = step.epoch_sum.mean_loss(),
      .accuracy = step.epoch_sum.accuracy(),
      .images_per_second = rate(images_, seconds),
      .seconds_left = seconds * left / static_cast<double>(steps - steps_before_)};
  if (!straggler_) return state;
  state.slow_rank = static_cast<int>(straggler_->rank);
  state.slow_by = straggler_->own / straggler_->elsewhere - 1;
  return state;
}

void Records::write_step(const StepRecord& step) {
  const std::vector<RankTiming> ranks = timings_.window();
  const double images_per_second = rate(window_.sum.samples, window_.watch.seconds());
  const double step_ms = window_.times.quantiles().p50;
  nlohmann::ordered_json line = {{"kind", "step"},
                                 {"step", step.position.step},
                                 {"epoch", step.position.epoch},
                                 {"loss", step.loss.mean_loss()},
                                 {"accuracy", step.loss.accuracy()},
                                 {"lr", step.learning_rate},
                                 {"images_per_second", images_per_second},
                                 {"step_ms", step_ms}};
  if (step.gradient_norm) line["grad_norm"] = *step.gradient_norm;
  if (step.weight_norm) line["weight_norm"] = *step.weight_norm;
  if (step.fields.is_object()) line.update(step.fields);
  if (ranks.size() <= kMostListed) line["ranks"] = as_json(ranks);
  record(line);
  if (events_ != nullptr) {
    events_->step({.step = step.position.step,
                   .loss = step.loss,
                   .learning_rate = step.learning_rate,
                   .images_per_second = images_per_second,
                   .step_ms = step_ms,
                   .weight_norm = step.weight_norm,
                   .ranks = ranks,
                   .more = step.fields});
  }
  note_straggler(step.position.step, ranks);
  timings_.start_window();
  window_.times.clear();
  window_.sum = {};
  window_.watch.restart();
}

void Records::say_step(const StepRecord& step) {
  const TrainPosition& position = step.position;
  say_batch("train",
            {position.epoch, position.step_in_epoch - 1, options_.steps_in_epoch},
            step.loss, step.epoch_sum);
}

/// Points of TensorBoard are counted over the epochs.
void Records::say_batch(std::string_view half, const BatchPlace& place,
                        const LossSum& batch, const LossSum& so_far) {
  say(batch_line(place, batch, so_far));
  if (events_ == nullptr) return;
  const auto every = static_cast<std::size_t>(options_.log_every);
  const auto epochs_before = static_cast<std::size_t>(std::max(0, place.epoch - 1));
  events_->imagenet_point(
      half, epochs_before * (place.batches / every) + (place.batch + 1) / every, batch);
}

void Records::end_epoch(const TrainPosition& position, const LossSum& sum,
                        double learning_rate, std::optional<double> weight_norm) {
  const double seconds = epoch_.watch.seconds();
  epoch_.before += seconds;
  nlohmann::ordered_json line = {
      {"kind", "epoch"},
      {"step", position.step},
      {"epoch", position.epoch},
      {"loss", sum.mean_loss()},
      {"accuracy", sum.accuracy()},
      {"lr", learning_rate},
      {"seconds", seconds},
      {"images_per_second", rate(images_ - epoch_.images, seconds)}};
  if (weight_norm) line["weight_norm"] = *weight_norm;
  record(line);
  if (events_ != nullptr) events_->epoch(position.step, sum, seconds, weight_norm);
  say(is_imagenet() ? epoch_accuracy_line("Train", sum)
                    : epoch_line(position, sum, seconds));
}

/// Scripts parse this line: changing it is a breaking change.
std::string Records::epoch_line(const TrainPosition& position, const LossSum& sum,
                                double seconds) const {
  const double of_batch =
      position.step_in_epoch == 0
          ? 0
          : epoch_.steps / static_cast<double>(position.step_in_epoch);
  return fmt::format(
      "{}Epoch: {}, Train Loss: {:.3f}, Train Accuracy: {:.3f}, Avg Batch Duration: "
      "{:.3f} seconds, Epoch Duration: {:.3f} seconds",
      options_.ranks > 1 ? fmt::format("Rank: {}, ", options_.rank) : "", position.epoch,
      sum.mean_loss(), sum.accuracy(), of_batch, seconds);
}

void Records::evaluation(const TrainPosition& position, std::string_view split,
                         const LossSum& sum, double seconds,
                         std::span<const LossSum> batches) {
  record({{"kind", "eval"},
          {"split", split},
          {"step", position.step},
          {"epoch", position.epoch},
          {"loss", sum.mean_loss()},
          {"accuracy", sum.accuracy()},
          {"correct", sum.correct},
          {"total", sum.samples},
          {"seconds", seconds}});
  if (events_ != nullptr) events_->evaluation(split, position.step, sum);
  if (is_imagenet()) say_batches(position.epoch, batches);
  say_evaluation(position, split, sum);
}

void Records::say_evaluation(const TrainPosition& position, std::string_view split,
                             const LossSum& sum) {
  if (is_imagenet()) return say(epoch_accuracy_line("Val", sum));
  say(fmt::format("epoch {}/{}  {:5} loss {:.4f}  accuracy {:.2f} %  ({}/{})",
                  position.epoch, options_.epochs, split, sum.mean_loss(),
                  100 * sum.accuracy(), sum.correct, sum.samples));
}

void Records::say_batches(int epoch, std::span<const LossSum> batches) {
  LossSum so_far;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    so_far += batches[i];
    if (!records_step(i + 1)) continue;
    say_batch("Val", {epoch, i, batches.size()}, batches[i], so_far);
  }
}

void Records::histograms(const TrainPosition& position,
                         const nlohmann::ordered_json& tensors) {
  if (folder_ == nullptr) return;
  folder_->record({{"kind", "histograms"},
                   {"step", position.step},
                   {"epoch", position.epoch},
                   {"tensors", tensors}});
}

void Records::record(const nlohmann::ordered_json& line) {
  if (folder_ == nullptr) return;
  folder_->record(line);
  if (progress_ != nullptr && progress_->wants_records()) {
    progress_->record(json_text(line));
  }
}

void Records::say_complete(double seconds) {
  if (is_imagenet()) say(completion_line(seconds));
}

void Records::summary(const nlohmann::ordered_json& summary) {
  if (folder_ == nullptr) return;
  folder_->write_summary(summary);
  if (progress_ == nullptr || !progress_->wants_records()) return;
  nlohmann::ordered_json line = {{"kind", "summary"}};
  line.update(summary);
  progress_->record(json_text(line));
}

void Records::say(std::string_view text) {
  if (progress_ != nullptr) progress_->line(text);
  if (folder_ != nullptr) folder_->log(text);
}

/// Logs which rank is slow, when that changes.
void Records::note_straggler(std::size_t step, std::span<const RankTiming> ranks) {
  straggler_ = find_straggler(ranks);
  if (!straggler_ || straggler_->rank == noted_) return;
  noted_ = straggler_->rank;
  if (folder_ != nullptr) {
    folder_->log(fmt::format("step {}: {}", step, describe(*straggler_)));
  }
}

void Records::say_straggler() {
  if (options_.ranks < 2) return;
  const std::vector<RankTiming> ranks = timings_.whole();
  const std::optional<Straggler> straggler = find_straggler(ranks);
  const auto [least, most] = std::ranges::minmax(ranks, {}, &RankTiming::own);
  say(straggler
          ? describe(*straggler)
          : fmt::format("no rank is slow: own compute {} to {} per step",
                        short_milliseconds(least.own), short_milliseconds(most.own)));
}

}  // namespace convoy
