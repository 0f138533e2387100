// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace convoy {
namespace {

double rate(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

/// Ranks that a record has a line of each of; of thousands nobody reads them.
constexpr std::size_t kMostListed = 64;

std::string json_line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

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
      epoch_watch_(*options.clock),
      window_watch_(*options.clock),
      timings_(options.ranks) {
  window_times_.clear();
}

void Records::resume(const RecordsBefore& before) {
  start_epoch(before.epoch);
  steps_ = steps_before_ = before.steps;
  steps_in_this_epoch_ = before.steps_in_epoch;
  epoch_sum_ = before.epoch_sum;
}

void Records::start_epoch(int epoch) {
  epoch_ = epoch;
  steps_in_this_epoch_ = 0;
  epoch_sum_ = window_sum_ = {};
  images_before_epoch_ = images_;
  seconds_of_steps_ = 0;
  epoch_watch_.restart();
  window_watch_.restart();
}

void Records::step(const LossSum& loss, double seconds, double learning_rate,
                   std::span<const StepReport> ranks, std::size_t first) {
  learning_rate_ = learning_rate;
  ++steps_;
  ++steps_in_this_epoch_;
  images_ += loss.samples;
  epoch_sum_ += loss;
  window_sum_ += loss;
  seconds_of_steps_ += seconds;
  step_times_.add(seconds);
  window_times_.add(seconds);
  timings_.add(ranks, first);
  if (steps_ % static_cast<std::size_t>(options_.log_every) == 0) write_step(loss);
  if (progress_ != nullptr) progress_->update(progress_state());
}

ProgressState Records::progress_state() const {
  const double seconds = seconds_of_epochs_ + epoch_watch_.seconds();
  const double left =
      static_cast<double>(options_.steps - std::min(steps_, options_.steps));
  const double all = static_cast<double>(options_.steps);
  ProgressState state = {
      .epoch = epoch_,
      .epochs = options_.epochs,
      .step = steps_in_this_epoch_,
      .steps_in_epoch = options_.steps_in_epoch,
      .part_done = static_cast<double>(steps_) / all,
      .loss = epoch_sum_.mean_loss(),
      .accuracy = epoch_sum_.accuracy(),
      .images_per_second = rate(images_, seconds),
      .seconds_left = seconds * left / static_cast<double>(steps_ - steps_before_)};
  if (!straggler_) return state;
  state.slow_rank = static_cast<int>(straggler_->rank);
  state.slow_by = straggler_->own / straggler_->elsewhere - 1;
  return state;
}

void Records::write_step(const LossSum& loss) {
  const std::vector<RankTiming> ranks = timings_.window();
  const double images_per_second = rate(window_sum_.samples, window_watch_.seconds());
  const double step_ms = window_times_.quantiles().p50;
  nlohmann::ordered_json line = {{"kind", "step"},
                                 {"step", steps_},
                                 {"epoch", epoch_},
                                 {"loss", loss.mean_loss()},
                                 {"accuracy", loss.accuracy()},
                                 {"lr", learning_rate_},
                                 {"images_per_second", images_per_second},
                                 {"step_ms", step_ms}};
  if (gradient_norm_) line["grad_norm"] = *gradient_norm_;
  if (more_fields_.is_object()) line.update(more_fields_);
  if (ranks.size() <= kMostListed) line["ranks"] = as_json(ranks);
  record(line);
  if (events_ != nullptr) {
    events_->step({.step = steps_,
                   .loss = loss,
                   .learning_rate = learning_rate_,
                   .images_per_second = images_per_second,
                   .step_ms = step_ms,
                   .ranks = ranks,
                   .more = more_fields_});
  }
  note_straggler(ranks);
  timings_.start_window();
  window_times_.clear();
  window_sum_ = {};
  window_watch_.restart();
}

LossSum Records::end_epoch() {
  const double seconds = epoch_watch_.seconds();
  seconds_of_epochs_ += seconds;
  const double images_per_second = rate(images_ - images_before_epoch_, seconds);
  record({{"kind", "epoch"},
          {"step", steps_},
          {"epoch", epoch_},
          {"loss", epoch_sum_.mean_loss()},
          {"accuracy", epoch_sum_.accuracy()},
          {"lr", learning_rate_},
          {"seconds", seconds},
          {"images_per_second", images_per_second}});
  if (events_ != nullptr) events_->epoch(steps_, epoch_sum_, seconds);
  say(epoch_line(seconds));
  return epoch_sum_;
}

/// In a form that scripts read: a change to it is a breaking change.
std::string Records::epoch_line(double seconds) const {
  const double of_batch =
      steps_in_this_epoch_ == 0
          ? 0
          : seconds_of_steps_ / static_cast<double>(steps_in_this_epoch_);
  return fmt::format(
      "{}Epoch: {}, Train Loss: {:.3f}, Train Accuracy: {:.3f}, Avg Batch Duration: "
      "{:.3f} seconds, Epoch Duration: {:.3f} seconds",
      options_.ranks > 1 ? fmt::format("Rank: {}, ", options_.rank) : "", epoch_,
      epoch_sum_.mean_loss(), epoch_sum_.accuracy(), of_batch, seconds);
}

void Records::evaluation(std::string_view split, const LossSum& sum, double seconds) {
  record({{"kind", "eval"},
          {"split", split},
          {"step", steps_},
          {"epoch", epoch_},
          {"loss", sum.mean_loss()},
          {"accuracy", sum.accuracy()},
          {"correct", sum.correct},
          {"total", sum.samples},
          {"seconds", seconds}});
  if (events_ != nullptr) events_->evaluation(split, steps_, sum);
  say(fmt::format("epoch {}/{}  {:5} loss {:.4f}  accuracy {:.2f} %  ({}/{})", epoch_,
                  options_.epochs, split, sum.mean_loss(), 100 * sum.accuracy(),
                  sum.correct, sum.samples));
}

void Records::record(const nlohmann::ordered_json& line) {
  if (folder_ == nullptr) return;
  folder_->record(line);
  if (progress_ != nullptr && progress_->wants_records()) {
    progress_->record(json_line(line));
  }
}

void Records::summary(const nlohmann::ordered_json& summary) {
  if (folder_ == nullptr) return;
  folder_->write_summary(summary);
  if (progress_ == nullptr || !progress_->wants_records()) return;
  nlohmann::ordered_json line = {{"kind", "summary"}};
  line.update(summary);
  progress_->record(json_line(line));
}

void Records::say(std::string_view text) {
  if (progress_ != nullptr) progress_->line(text);
  if (folder_ != nullptr) folder_->log(text);
}

/// Writes to the log who is slow, when that changes.
void Records::note_straggler(std::span<const RankTiming> ranks) {
  straggler_ = find_straggler(ranks);
  if (!straggler_ || straggler_->rank == noted_) return;
  noted_ = straggler_->rank;
  if (folder_ != nullptr) {
    folder_->log(fmt::format("step {}: {}", steps_, describe(*straggler_)));
  }
}

void Records::say_straggler() {
  if (options_.ranks < 2) return;
  const std::vector<RankTiming> ranks = timings_.whole();
  const std::optional<Straggler> straggler = find_straggler(ranks);
  const auto [least, most] = std::ranges::minmax(ranks, {}, &RankTiming::own);
  say(straggler
          ? describe(*straggler)
          : fmt::format("no rank is slow: own compute {} to {} a step",
                        short_milliseconds(least.own), short_milliseconds(most.own)));
}

}  // namespace convoy
