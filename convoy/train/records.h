// SPDX-License-Identifier: Apache-2.0
//
// Records: what a run writes down of itself as it goes: step, epoch and evaluation lines,
// the progress bar, and the times that end up in the summary.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/network/loss.h"
#include "convoy/train/progress.h"
#include "convoy/train/run_folder.h"

namespace convoy {

/// Durations of steps; the first is left out (it warms up). Of a long run it keeps every
/// second, fourth ... duration, so that memory and the cost of a step stay bounded.
class StepTimes {
 public:
  StepTimes() { milliseconds_.reserve(kMost); }

  void add(double seconds);

  struct Quantiles {
    double p50 = 0, p90 = 0, max = 0;
  };
  Quantiles quantiles() const;

 private:
  static constexpr std::size_t kMost = 1 << 16;

  std::size_t steps_ = 0;
  std::size_t stride_ = 1;  // of the durations kept
  double longest_ = 0;
  std::vector<float> milliseconds_;
};

struct RecordOptions {
  int epochs = 1;
  std::size_t steps_in_epoch = 1;
  std::size_t steps = 1;  // of the whole run
  int log_every = 50;
};

class Records {
 public:
  /// Borrows both for as long as it lives.
  Records(RunFolder& folder, Progress& progress, const RecordOptions& options);

  void start_epoch(int epoch);

  /// One step is done: its loss, how long it took from batch to new values, and the
  /// learning rate it was made with.
  void step(const LossSum& loss, double seconds, double learning_rate);

  /// The epoch is over. Returns the mean over its steps so far.
  LossSum end_epoch();

  void evaluation(std::string_view split, const LossSum& sum, double seconds);

  /// Prints a line that stays, and writes it to log.txt.
  void say(std::string_view text);

  std::size_t steps() const { return steps_; }
  int epoch() const { return epoch_; }
  std::size_t steps_in_this_epoch() const { return steps_in_this_epoch_; }
  std::size_t images() const { return images_; }
  const StepTimes& step_times() const { return step_times_; }

 private:
  void write_step(const LossSum& loss);
  ProgressState progress_state() const;

  RunFolder& folder_;
  Progress& progress_;
  RecordOptions options_;
  int epoch_ = 0;  // from 1
  std::size_t steps_ = 0, steps_in_this_epoch_ = 0, images_ = 0;
  double learning_rate_ = 0;        // of the last step
  LossSum epoch_sum_, window_sum_;  // since the epoch began, since the last step record
  Stopwatch epoch_watch_, window_watch_;
  double seconds_of_epochs_ = 0;  // those before this one, without evaluation
  StepTimes step_times_;
};

}  // namespace convoy
