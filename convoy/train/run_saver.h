// SPDX-License-Identifier: Apache-2.0
//
// RunSaver: saves the checkpoints and weights of a run, and restores the checkpoint that
// it resumes from.
//
// Only the first rank reads and writes files. All ranks make the same calls, since a save
// completes the numbers on all of them (UpdateSource::synchronize). If ranks have parts
// of the numbers, they save a checkpoint together (divided_save.h), and training waits
// until it is on disk.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/train_position.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/checkpoint_writer.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/network/loss.h"

namespace convoy {

class ShardPlan;
struct TrainingParts;

/// The training loop's state at the moment of a save.
struct SavePoint {
  TrainPosition position;
  LossSum epoch_sum;         // over the epoch's steps so far
  double learning_rate = 0;  // of the last step
  double seconds = 0;        // of the run so far
};

class RunSaver {
 public:
  /// Borrows the parts for as long as it lives. On the first rank it restores what
  /// train.resume names, before ranks communicate. Throws InputError.
  explicit RunSaver(TrainingParts& parts);

  /// Called on another thread for each checkpoint that is complete on disk.
  void tell_checkpoints_to(CheckpointWriter::OnSaved on_saved) {
    on_saved_ = std::move(on_saved);
  }

  /// What the run resumes from; nullptr: nothing. Only the first rank knows it until
  /// share_restored().
  const CheckpointState* restored() const { return restored_ ? &*restored_ : nullptr; }
  /// Newer checkpoints that are damaged, and why.
  const std::vector<std::string>& damaged() const { return damaged_; }

  /// Broadcasts what the first rank has restored.
  void share_restored();

  /// Writes checkpoints to this folder from now on. None are written without a folder, or
  /// if checkpoint.enabled is false.
  void open(const RunFolder& folder);

  void save(const SavePoint& point);

  /// Keeps the trained values and running statistics, without anything to resume from.
  void save_weights(const TrainPosition& position);

  /// Saves an evaluated epoch if it is the best, the last, or due. `evaluation` is its
  /// evaluation, if there was one.
  void save_epoch(const SavePoint& point, const LossSum* evaluation, bool is_last);

  /// Throws the error of a failed write.
  void rethrow_failure();

  /// Saves the last position, unless it is already saved or no step was made, and waits
  /// until everything is on disk.
  void finish(const SavePoint* last);

  /// Seconds that training has waited for writes; zero with a virtual clock.
  double seconds_blocked() const;

 private:
  class DividedParts;

  void restore();
  void continue_in(const RunFolder& folder);
  void begin_weight_saves(const RunFolder& folder);
  bool note_best(const LossSum& evaluation, const TrainPosition& position);
  void write(const SavePoint& point, bool evaluated, bool best);
  bool has_divided_state() const;
  bool agreed(bool wanted);
  const ShardPlan* plan_of(const LoadedPart& part) const;
  void share(const LoadedPart& part);
  void save_together(CheckpointContent content, const SaveRequest& order);
  void save_weights_together(std::uint64_t step);
  CheckpointState state(const SavePoint& point, bool evaluated) const;
  std::vector<LoadedPart> model_parts();
  std::vector<LoadedPart> trained_parts();
  std::vector<LoadedPart> optimizer_parts(bool with_masters = true);
  std::vector<LoadedPart> restored_parts();

  TrainingParts& parts_;
  std::optional<CheckpointState> restored_;
  std::vector<std::string> damaged_;
  std::optional<BestMark> best_;
  /// Including its epoch's evaluation, if that is due.
  std::optional<std::size_t> saved_step_;
  std::optional<CheckpointWriter> writer_;  // on the first rank, while it trains
  double seconds_before_ = 0;               // waited for earlier writers
  CheckpointWriter::OnSaved on_saved_;
};

/// Where a checkpoint was made.
TrainPosition position_of(const CheckpointState& state, std::size_t batch_size);

}  // namespace convoy
