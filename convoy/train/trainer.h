// SPDX-License-Identifier: Apache-2.0
//
// Trainer: a run, planned and then run.
//
// Making one loads the data, builds the model and reserves all memory: whatever can be
// refused is refused then. train() is the loop; `convoy/train/trainer.cpp` is the page to
// read first.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/base/thread_team.h"
#include "convoy/loader/loader.h"
#include "convoy/network/lanes.h"
#include "convoy/optimizer/moving_average.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/strategy/single.h"
#include "convoy/train/evaluation.h"
#include "convoy/train/exit_code.h"
#include "convoy/train/initial_weights.h"
#include "convoy/train/records.h"
#include "convoy/train/run_folder.h"
#include "convoy/train/settings.h"
#include "convoy/train/stop_request.h"
#include "convoy/train/workload.h"

namespace convoy {

/// How a run ended.
struct Outcome {
  ExitCode code = ExitCode::done;
  std::string reason = "done";
  LossSum train;  // of the last epoch
  std::optional<EvaluationResult> test;
};

class Trainer {
 public:
  /// Throws InputError for anything that does not fit.
  explicit Trainer(const Settings& settings);

  /// Ranks, lanes, memory and steps, for people; what --dry-run shows.
  std::string plan() const;

  /// Trains and writes the run's folder: records, a final checkpoint, summary.json.
  /// `command` is kept in the summary. Throws InputError when the folder cannot be
  /// written.
  Outcome train(RunFolder& folder, Progress& progress, const StopRequest& stop,
                const std::string& command);

  const Workload& work() const { return work_; }
  /// What is evaluated and saved: the values and running statistics, or their averages if
  /// there are any.
  const FlatBuffer& values() const { return average_ ? average_->average() : values_; }
  const FlatBuffer& statistics() const {
    return average_statistics_ ? average_statistics_->average() : statistics_;
  }

 private:
  struct Seconds {
    double training = 0, checkpointing = 0, evaluating = 0;
  };

  void set_first_values();
  void train_epoch(int epoch, Records& records, const StopRequest& stop,
                   Outcome& outcome);
  double update(const Batch& batch, std::size_t step, LossSum& loss);
  bool is_over(const Records& records, const LossSum& loss, const StopRequest& stop,
               Outcome& outcome) const;
  EvaluationResult evaluate(std::string_view split, Records& records, Outcome& outcome);
  void save(const RunFolder& folder, const Records& records);
  nlohmann::ordered_json summary(const Outcome& outcome, const Records& records,
                                 const std::string& command, double total_seconds) const;
  std::size_t steps_planned() const;

  Settings settings_;
  Workload work_;
  ThreadTeam team_;
  FlatBuffer values_, gradients_, statistics_;
  Network network_;
  Lanes lanes_;
  Evaluator evaluator_;
  Sgd optimizer_;
  Single strategy_;
  Loader loader_;
  Schedule schedule_;
  std::optional<InitialWeights> initial_;  // if they came from a file
  std::optional<MovingAverage> average_, average_statistics_;
  Seconds seconds_;
};

}  // namespace convoy
