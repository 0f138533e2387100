// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/text.h"

namespace convoy {
namespace {

double rate(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

void StepTimes::add(double seconds) {
  const std::size_t step = steps_++;
  if (step == 0) return;
  longest_ = std::max(longest_, seconds * 1e3);
  if (step % stride_ != 0) return;
  if (milliseconds_.size() == kMost) {
    for (std::size_t i = 0; i < kMost / 2; ++i)
      milliseconds_[i] = milliseconds_[2 * i + 1];
    milliseconds_.resize(kMost / 2);
    stride_ *= 2;
    if (step % stride_ != 0) return;
  }
  milliseconds_.push_back(static_cast<float>(seconds * 1e3));
}

StepTimes::Quantiles StepTimes::quantiles() const {
  if (milliseconds_.empty()) return {};
  std::vector<float> sorted = milliseconds_;
  std::ranges::sort(sorted);
  const std::size_t last = sorted.size() - 1;
  return {sorted[last / 2], sorted[last * 9 / 10], longest_};
}

Records::Records(RunFolder& folder, Progress& progress, const RecordOptions& options)
    : folder_(folder), progress_(progress), options_(options) {}

void Records::start_epoch(int epoch) {
  epoch_ = epoch;
  steps_in_this_epoch_ = 0;
  epoch_sum_ = window_sum_ = {};
  epoch_watch_.restart();
  window_watch_.restart();
}

void Records::step(const LossSum& loss, double seconds, double learning_rate) {
  learning_rate_ = learning_rate;
  ++steps_;
  ++steps_in_this_epoch_;
  images_ += loss.samples;
  epoch_sum_ += loss;
  window_sum_ += loss;
  step_times_.add(seconds);
  if (steps_ % static_cast<std::size_t>(options_.log_every) == 0) write_step(loss);
  progress_.update(progress_state());
}

ProgressState Records::progress_state() const {
  const double seconds = seconds_of_epochs_ + epoch_watch_.seconds();
  const double left =
      static_cast<double>(options_.steps - std::min(steps_, options_.steps));
  return {.epoch = epoch_,
          .epochs = options_.epochs,
          .step = steps_in_this_epoch_,
          .steps_in_epoch = options_.steps_in_epoch,
          .loss = epoch_sum_.mean_loss(),
          .accuracy = epoch_sum_.accuracy(),
          .images_per_second = rate(images_, seconds),
          .seconds_left = seconds * left / static_cast<double>(steps_)};
}

void Records::write_step(const LossSum& loss) {
  folder_.record(
      {{"kind", "step"},
       {"step", steps_},
       {"epoch", epoch_},
       {"loss", loss.mean_loss()},
       {"accuracy", loss.accuracy()},
       {"lr", learning_rate_},
       {"images_per_second", rate(window_sum_.samples, window_watch_.seconds())}});
  window_sum_ = {};
  window_watch_.restart();
}

LossSum Records::end_epoch() {
  const double seconds = epoch_watch_.seconds();
  seconds_of_epochs_ += seconds;
  const double images_per_second = rate(epoch_sum_.samples, seconds);
  folder_.record({{"kind", "epoch"},
                  {"step", steps_},
                  {"epoch", epoch_},
                  {"loss", epoch_sum_.mean_loss()},
                  {"accuracy", epoch_sum_.accuracy()},
                  {"lr", learning_rate_},
                  {"seconds", seconds},
                  {"images_per_second", images_per_second}});
  say(fmt::format(
      "epoch {}/{}  train loss {:.4f}  accuracy {:.2f} %  {} images/s  {:.1f} s", epoch_,
      options_.epochs, epoch_sum_.mean_loss(), 100 * epoch_sum_.accuracy(),
      with_commas(static_cast<std::uint64_t>(images_per_second)), seconds));
  return epoch_sum_;
}

void Records::evaluation(std::string_view split, const LossSum& sum, double seconds) {
  folder_.record({{"kind", "eval"},
                  {"split", split},
                  {"step", steps_},
                  {"epoch", epoch_},
                  {"loss", sum.mean_loss()},
                  {"accuracy", sum.accuracy()},
                  {"correct", sum.correct},
                  {"total", sum.samples},
                  {"seconds", seconds}});
  say(fmt::format("epoch {}/{}  {:5} loss {:.4f}  accuracy {:.2f} %  ({}/{})", epoch_,
                  options_.epochs, split, sum.mean_loss(), 100 * sum.accuracy(),
                  sum.correct, sum.samples));
}

void Records::say(std::string_view text) {
  progress_.line(text);
  folder_.log(text);
}

}  // namespace convoy
