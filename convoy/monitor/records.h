// SPDX-License-Identifier: Apache-2.0
//
// Records: what a run records about itself: step, epoch and evaluation lines, the
// progress bar, and the times in the summary.

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
#include "convoy/monitor/imagenet_lines.h"
#include "convoy/monitor/progress.h"
#include "convoy/monitor/rank_timings.h"
#include "convoy/monitor/step_times.h"
#include "convoy/network/loss.h"
#include "convoy/settings/settings.h"

namespace convoy {

struct RecordOptions {
  int epochs = 1;
  std::size_t steps_in_epoch = 1;
  std::size_t steps = 1;  // of the whole run
  int log_every = 50;
  std::size_t ranks = 1;
  int rank = 0;  // this one
  ConsoleStyle style = ConsoleStyle::bar;
  const Clock* clock = &kSteadyClock;  // borrowed
};

/// A completed step.
struct StepRecord {
  TrainPosition position;  // after the step
  LossSum loss;
  LossSum epoch_sum;                      // over the epoch's steps so far
  double seconds = 0;                     // from the batch to the new values
  double learning_rate = 0;               // of the step
  std::span<const StepReport> reports{};  // of the ranks from `first_reporter` on
  std::size_t first_reporter = 0;
  std::optional<double> gradient_norm{};    // if known
  std::optional<double> weight_norm{};      // after the step, if the step is recorded
  nlohmann::ordered_json fields = nullptr;  // groups of numbers, by name; or null
};

class Records {
 public:
  /// Borrows everything for as long as it lives. Ranks other than the first have no
  /// folder (nullptr): their records count, but write nothing; they have a progress only
  /// if they have a log. `events` may be nullptr.
  Records(RunFolder* folder, Progress* progress, const RecordOptions& options,
          EventRecords* events = nullptr);

  /// Called once, first: the run resumes from there.
  void begin(const TrainPosition& from) { steps_before_ = from.step; }

  /// Called when an epoch begins or is continued.
  void start_epoch();

  /// Whether that step, counted from 1, gets a record.
  bool records_step(std::size_t step) const {
    return step % static_cast<std::size_t>(options_.log_every) == 0;
  }

  void step(const StepRecord& step);

  /// Called at the end of an epoch; `sum` is over its steps.
  void end_epoch(const TrainPosition& position, const LossSum& sum, double learning_rate,
                 std::optional<double> weight_norm = std::nullopt);

  /// `batches` are those that the style imagenet shows.
  void evaluation(const TrainPosition& position, std::string_view split,
                  const LossSum& sum, double seconds,
                  std::span<const LossSum> batches = {});

  /// Histograms of every tensor, by name, after an epoch.
  void histograms(const TrainPosition& position, const nlohmann::ordered_json& tensors);

  /// Prints a permanent line, and writes it to log.txt.
  void say(std::string_view text);

  /// Reports which rank was slowest, if there are several.
  void say_straggler();

  /// Reports how long a complete run took, in the style imagenet.
  void say_complete(double seconds);

  /// Writes summary.json, the last of the records.
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

  /// Of this process: all epochs, and the current one.
  struct EpochTimes {
    double before = 0;       // seconds of the earlier epochs, without evaluation
    double steps = 0;        // seconds of this epoch's steps
    std::size_t images = 0;  // before this epoch
    Stopwatch watch;
  };

  bool is_imagenet() const { return options_.style == ConsoleStyle::imagenet; }
  void write_step(const StepRecord& step);
  void say_step(const StepRecord& step);
  void say_batch(std::string_view half, const BatchPlace& place, const LossSum& batch,
                 const LossSum& so_far);
  void say_evaluation(const TrainPosition& position, std::string_view split,
                      const LossSum& sum);
  void say_batches(int epoch, std::span<const LossSum> batches);
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
  std::size_t steps_before_ = 0;  // steps before this process
  Window window_;
  EpochTimes epoch_;
  StepTimes step_times_;
  RankTimings timings_;
  std::optional<std::size_t> noted_;    // the straggler last written to the log
  std::optional<Straggler> straggler_;  // of the last window
};

}  // namespace convoy
