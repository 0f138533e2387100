// SPDX-License-Identifier: Apache-2.0
//
// Records: what a run writes down of itself as it goes: step, epoch and evaluation lines,
// the progress bar, and the times that end up in the summary.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/monitor/event_records.h"
#include "convoy/monitor/progress.h"
#include "convoy/monitor/rank_timings.h"
#include "convoy/monitor/step_times.h"
#include "convoy/network/loss.h"

namespace convoy {

struct RecordOptions {
  int epochs = 1;
  std::size_t steps_in_epoch = 1;
  std::size_t steps = 1;  // of the whole run
  int log_every = 50;
  std::size_t ranks = 1;
  int rank = 0;                        // this one
  const Clock* clock = &kSteadyClock;  // borrowed
};

/// Where a run stood that goes on.
struct RecordsBefore {
  std::size_t steps = 0;
  int epoch = 0;
  std::size_t steps_in_epoch = 0;
  LossSum epoch_sum;
};

class Records {
 public:
  /// Borrows all for as long as it lives. On all ranks but the first there is no folder
  /// (nullptr): the records count, and write nothing; and a progress only for a rank that
  /// has a log of its own. Without events there are none.
  Records(RunFolder* folder, Progress* progress, const RecordOptions& options,
          EventRecords* events = nullptr);

  /// Goes on from there, in the middle of its epoch. Once, first.
  void resume(const RecordsBefore& before);

  void start_epoch(int epoch);

  /// The norm of the gradient of the next step() to be recorded.
  void gradient_norm(double norm) { gradient_norm_ = norm; }

  /// Whether the next step() will be recorded; what its record is to have besides: groups
  /// of numbers, by name, or null.
  bool records_next() const {
    return (steps_ + 1) % static_cast<std::size_t>(options_.log_every) == 0;
  }
  void more_fields(nlohmann::ordered_json fields) { more_fields_ = std::move(fields); }

  /// One step is done: its loss, how long it took from batch to new values, the learning
  /// rate it was made with, and what ranks from `first` on said of it.
  void step(const LossSum& loss, double seconds, double learning_rate,
            std::span<const StepReport> ranks, std::size_t first = 0);

  /// The epoch is over. Returns the mean over its steps so far.
  LossSum end_epoch();

  void evaluation(std::string_view split, const LossSum& sum, double seconds);

  /// Prints a line that stays, and writes it to log.txt.
  void say(std::string_view text);

  /// Says which rank was slowest, if there are several.
  void say_straggler();

  /// Writes summary.json, which is the last of the records.
  void summary(const nlohmann::ordered_json& summary);

  std::size_t steps() const { return steps_; }
  int epoch() const { return epoch_; }
  std::size_t steps_in_this_epoch() const { return steps_in_this_epoch_; }
  std::size_t images() const { return images_; }  // since this process began
  double learning_rate() const { return learning_rate_; }
  const LossSum& epoch_sum() const { return epoch_sum_; }
  const StepTimes& step_times() const { return step_times_; }
  const RankTimings& pace() const { return timings_; }

 private:
  void write_step(const LossSum& loss);
  void note_straggler(std::span<const RankTiming> ranks);
  void record(const nlohmann::ordered_json& line);
  std::string epoch_line(double seconds) const;
  ProgressState progress_state() const;

  RunFolder* folder_;
  Progress* progress_;
  EventRecords* events_;
  RecordOptions options_;
  int epoch_ = 0;  // from 1
  std::size_t steps_ = 0, steps_in_this_epoch_ = 0, images_ = 0;
  std::size_t steps_before_ = 0;         // this process began
  std::size_t images_before_epoch_ = 0;  // since it began
  double learning_rate_ = 0;             // of the last step
  std::optional<double> gradient_norm_;  // of the last step, if it is known
  LossSum epoch_sum_, window_sum_;  // since the epoch began, since the last step record
  nlohmann::ordered_json more_fields_;  // of the next record
  Stopwatch epoch_watch_, window_watch_;
  double seconds_of_epochs_ = 0;  // those before this one, without evaluation
  double seconds_of_steps_ = 0;   // in this epoch
  StepTimes step_times_, window_times_;
  RankTimings timings_;
  std::optional<std::size_t> noted_;    // the straggler last written to the log
  std::optional<Straggler> straggler_;  // of the last window
};

}  // namespace convoy
