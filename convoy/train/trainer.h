// SPDX-License-Identifier: Apache-2.0
//
// Trainer: a run, planned and then run, on one rank of a job.
//
// Making one loads the data, builds the model and reserves all memory: whatever can be
// refused is refused then, before any rank talks to another. train() is the loop;
// `convoy/train/trainer.cpp` is the page to read first. All ranks do the same, each on
// its own part of every update (UpdateSource); the first one also writes down what
// happens.

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/exit_code.h"
#include "convoy/checkpoint/checkpoint_writer.h"
#include "convoy/checkpoint/initial_weights.h"
#include "convoy/checkpoint/policy_state.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/monitor/event_records.h"
#include "convoy/monitor/rank_totals.h"
#include "convoy/monitor/records.h"
#include "convoy/monitor/resource_records.h"
#include "convoy/monitor/time_table.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/workload.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/thread_team.h"
#include "convoy/train/averages.h"
#include "convoy/train/evaluation_policy.h"
#include "convoy/updates/local_updates.h"
#include "convoy/updates/update_source.h"

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
  /// Borrows the comm for as long as it lives. Throws InputError for anything that does
  /// not fit.
  Trainer(const Settings& settings, Comm& comm,
          const UpdateSourceFactory& make_updates = make_local_updates);

  /// Ranks, micro-batches, memory and steps, for people; what --dry-run shows.
  std::string plan() const;

  /// Trains. The first rank writes the run's folder: records, a final checkpoint,
  /// summary.json, in which `command` is kept; the others have no folder (nullptr), and a
  /// progress only if they have a log of their own. All get the same outcome. Throws
  /// InputError when the folder cannot be written, PeerError when a rank is lost.
  Outcome train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                const std::string& command);

  /// After each step `on_step` hears how many are done: on the thread that trains.
  void tell_steps_to(std::function<void(std::size_t)> on_step) {
    on_step_ = std::move(on_step);
  }

  /// Each checkpoint that is on disk, whole, is told of on another thread.
  void tell_checkpoints_to(CheckpointWriter::OnSaved on_saved) {
    on_saved_ = std::move(on_saved);
  }

  /// What it goes on from, if anything. Known to the first rank.
  const std::optional<CheckpointState>& restored() const { return restored_; }
  /// Newer checkpoints that are not whole, and why.
  const std::vector<std::string>& damaged() const { return damaged_; }

  const Workload& work() const { return work_; }
  std::size_t microbatches() const { return updates_->description().microbatches; }
  /// What is evaluated and saved: the values and running statistics, or their averages if
  /// there are any.
  const FlatBuffer& values() const { return weights().values; }
  const FlatBuffer& statistics() const { return weights().statistics; }

  /// What a checkpoint holds besides numbers of buffers.
  PolicyState policy_state() const;
  void set_policy_state(const PolicyState& state);

 private:
  struct Seconds {
    double training = 0, checkpointing = 0, evaluating = 0;
  };

  /// Where the loop begins: at a batch of an epoch.
  struct Position {
    int epoch = 1;
    std::size_t batch = 0;
  };

  void set_first_values();
  void restore();
  void share_restored();
  bool begins_restored() const;
  void go_on_in(const RunFolder& folder);
  Position first_position() const;
  void train_epochs(Records& records, const StopRequest& stop, Outcome& outcome);
  void finish_files(RunFolder& folder, const Records& records, const Outcome& outcome);
  void train_epoch(Position from, Records& records, const StopRequest& stop,
                   Outcome& outcome);
  NextUpdate update(Records& records, const StopRequest& stop);
  int stop_signal(const StopRequest& stop) const;
  std::string stopped_by(int signal) const;
  void declare_cut_short(const NoMoreUpdates& end, const Records& records,
                         const StopRequest& stop, Outcome& outcome) const;
  bool is_over(const Records& records, const Update& update, Outcome& outcome) const;
  bool is_judged(const Records& records) const;
  void average_epoch(const Records& records);
  bool goes_on(Records& records, Outcome& outcome) const;
  EvaluationResult evaluate(std::string_view split, Records& records, Outcome& outcome);
  bool note_best(const LossSum& judged, const Records& records);
  void save_epoch(const Records& records, bool best, bool last);
  RankTotals totals() const;
  std::vector<RankTotals> agree_on_weights();
  void save(const Records& records, bool evaluated, bool best = false);
  void save_at_end(const Records& records);
  /// Where time is virtual, saving takes none.
  double seconds_saving() const {
    const bool real = updates_->description().clock == &kSteadyClock;
    return writer_ && real ? writer_->seconds_blocked() : 0;
  }
  CheckpointState state(const Records& records, bool evaluated) const;
  std::vector<LoadedPart> model_parts();
  std::vector<LoadedPart> optimizer_parts();
  nlohmann::ordered_json summary(const Outcome& outcome, const Records& records,
                                 const std::vector<RankTotals>& ranks,
                                 double total_seconds) const;
  std::size_t steps_planned() const;
  RunTimes times(double total_seconds) const;
  /// Of the evaluations that decide anything.
  std::string_view judged_split() const {
    return work_.samples.validation.empty() ? "test" : "val";
  }
  Weights weights() const {
    return averages_ && averages_->any() ? averages_->weights()
                                         : Weights{values_, statistics_};
  }

  Settings settings_;
  Comm& comm_;
  Workload work_;
  ThreadTeam team_;
  FlatBuffer values_, statistics_;
  Evaluator evaluator_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<ClipNorm> clip_;
  std::unique_ptr<UpdateSource> updates_;
  Schedule schedule_;
  std::optional<InitialWeights> initial_;  // if they came from a file
  std::optional<Averages> averages_;
  EvaluationPolicy policy_;
  std::optional<CheckpointState> restored_;  // the one it goes on from
  std::vector<std::string> damaged_;
  std::optional<BestMark> best_;
  std::optional<CheckpointWriter> writer_;  // the first rank's, while it trains
  CheckpointWriter::OnSaved on_saved_;
  std::optional<std::size_t> saved_step_;  // after its epoch's evaluation, if that is due
  Stopwatch since_begin_;                  // of train(), by the machine's clock
  std::optional<EventRecords> events_;     // while it trains
  std::function<void(std::size_t)> on_step_;
  Seconds seconds_;
  std::optional<ResourceRecords> resources_;
};

}  // namespace convoy
