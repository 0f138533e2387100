// SPDX-License-Identifier: Apache-2.0
//
// TrainingLoop: runs a training. It owns the position in the run and passes it to
// everything else. Start reading in `convoy/train/training_loop.cpp`.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/base/train_position.h"
#include "convoy/monitor/event_records.h"
#include "convoy/monitor/records.h"
#include "convoy/monitor/resource_records.h"
#include "convoy/system/stop_request.h"
#include "convoy/train/loss_scale_report.h"
#include "convoy/train/outcome.h"
#include "convoy/train/run_saver.h"
#include "convoy/train/run_summary.h"
#include "convoy/train/training_parts.h"

namespace convoy {

/// Where a run reports to. Everything is borrowed.
struct RunOutputs {
  RunFolder* folder = nullptr;   // of the first rank
  Progress* progress = nullptr;  // of ranks that have a log or a console
  const std::string& command;    // written to summary.json
  /// Called with the number of completed steps.
  const std::function<void(std::size_t)>& on_step;
};

class TrainingLoop {
 public:
  /// Borrows everything for as long as it lives.
  TrainingLoop(TrainingParts& parts, RunSaver& saver, const RunOutputs& outputs,
               const StopRequest& stop);

  /// Trains, evaluates, saves and writes the summary. Throws InputError, PeerError.
  Outcome run();

 private:
  void begin();
  void evaluate_before_training();
  void train_epochs();
  bool begin_first_epoch();
  bool begin_next_epoch();
  void train_epoch();
  void end_epoch();
  NextUpdate next_update();
  void say_damaged_files();
  void take_in(const Update& update);
  bool ends_after(const Update& update);
  void save_weights_if_due();
  void save_if_due();
  std::optional<EvaluationResult> decide_after_epoch();
  void record_tensors();
  void average_epoch();
  EvaluationResult evaluate(std::string_view split);
  EvaluationResult measure(std::string_view split, const TrainPosition& position);
  bool evaluations_allow_more();
  void finish();
  void finish_files();

  bool is_done() const { return outcome_.code == ExitCode::done; }
  const Clock& clock() const { return *parts_.description().clock; }
  SavePoint save_point() const {
    return {position_, epoch_sum_, learning_rate_, run_seconds()};
  }
  double run_seconds() const;
  std::optional<double> gradient_norm() const;
  std::optional<double> recorded_weight_norm() const;
  bool is_at_stop() const;
  int stop_signal() const;
  std::string stopped_by(int signal) const;
  void end_early(ExitCode code, const std::string& why);
  std::string unsaved() const;
  void end_diverged();

  TrainingParts& parts_;
  RunSaver& saver_;
  RunOutputs outputs_;
  const StopRequest& stop_;
  Stopwatch since_begin_;  // by the machine's clock
  Stopwatch watch_;        // by the clock of the records
  EventRecords events_;
  Records records_;
  RunSummary summary_;
  LossScaleReport loss_scale_;
  std::optional<ResourceRecords> resources_;
  TrainPosition position_;
  LossSum epoch_sum_;         // over the epoch's steps so far
  double learning_rate_ = 0;  // of the last step
  Outcome outcome_;
};

}  // namespace convoy
