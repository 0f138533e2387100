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

#include "convoy/base/clock.h"
#include "convoy/base/train_position.h"
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

/// One step that is done.
struct StepRecord {
  TrainPosition position;  // after it
  LossSum loss;
  LossSum epoch_sum;         // of the epoch's steps so far
  double seconds = 0;        // from the batch to new values
  double learning_rate = 0;  // it was made with
  std::span<const StepReport>
      reports{};  // what ranks from `first_reporter` on said of it
  std::size_t first_reporter = 0;
  std::optional<double> gradient_norm{};    // if it is known
  nlohmann::ordered_json fields = nullptr;  // groups of numbers, by name, or null
};

class Records {
 public:
  /// Borrows all for as long as it lives. On all ranks but the first there is no folder
  /// (nullptr): the records count, and write nothing; and a progress only for a rank that
  /// has a log of its own. Without events there are none.
  Records(RunFolder* folder, Progress* progress, const RecordOptions& options,
          EventRecords* events = nullptr);

  /// The run resumes from there. Called once, first.
  void begin(const TrainPosition& from) { steps_before_ = from.step; }

  /// An epoch begins, or is continued.
  void start_epoch();

  /// Whether that step, from 1, gets a record of its own.
  bool records_step(std::size_t step) const {
    return step % static_cast<std::size_t>(options_.log_every) == 0;
  }

  void step(const StepRecord& step);

  /// The epoch is over; `sum` is over its steps.
  void end_epoch(const TrainPosition& position, const LossSum& sum, double learning_rate);

  void evaluation(const TrainPosition& position, std::string_view split,
                  const LossSum& sum, double seconds);

  /// Prints a line that stays, and writes it to log.txt.
  void say(std::string_view text);

  /// Says which rank was slowest, if there are several.
  void say_straggler();

  /// Writes summary.json, which is the last of the records.
  void summary(const nlohmann::ordered_json& summary);

  std::size_t images() const { return images_; }  // since this process began
  const StepTimes& step_times() const { return step_times_; }
  const RankTimings& pace() const { return timings_; }

 private:
  /// Since the last step record.
  struct Window {
    LossSum sum;
    StepTimes times;
    Stopwatch watch;
  };

  /// Of the epochs, and of the one at hand, in this process.
  struct EpochTimes {
    double before = 0;       // seconds of the epochs before this one, without evaluation
    double steps = 0;        // seconds of this epoch's steps
    std::size_t images = 0;  // until this epoch began
    Stopwatch watch;
  };

  void write_step(const StepRecord& step);
  void note_straggler(std::size_t step, std::span<const RankTiming> ranks);
  void record(const nlohmann::ordered_json& line);
  std::string epoch_line(const TrainPosition& position, const LossSum& sum,
                         double seconds) const;
  ProgressState progress_state(const StepRecord& step) const;

  RunFolder* folder_;
  Progress* progress_;
  EventRecords* events_;
  RecordOptions options_;
  std::size_t images_ = 0;
  std::size_t steps_before_ = 0;  // this process began
  Window window_;
  EpochTimes epoch_;
  StepTimes step_times_;
  RankTimings timings_;
  std::optional<std::size_t> noted_;    // the straggler last written to the log
  std::optional<Straggler> straggler_;  // of the last window
};

}  // namespace convoy
