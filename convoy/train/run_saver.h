// SPDX-License-Identifier: Apache-2.0
//
// RunSaver: saves the checkpoints of a run, and restores the one that it resumes from.
//
// The first rank alone reads and writes files. All ranks make the same calls, since a
// save completes the numbers on all of them (UpdateSource::synchronize).

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

struct TrainingParts;

/// What the training loop knows of the moment that is saved.
struct SavePoint {
  TrainPosition position;
  LossSum epoch_sum;         // of the epoch's steps so far
  double learning_rate = 0;  // of the last step
};

class RunSaver {
 public:
  /// Borrows the parts for as long as it lives. On the first rank it restores what
  /// train.resume names, before any rank talks to another. Throws InputError.
  explicit RunSaver(TrainingParts& parts);

  /// Each checkpoint that is on disk, whole, is told of on another thread.
  void tell_checkpoints_to(CheckpointWriter::OnSaved on_saved) {
    on_saved_ = std::move(on_saved);
  }

  /// What the run resumes from; nullptr: nothing. Until share_restored() only the first
  /// rank knows.
  const CheckpointState* restored() const { return restored_ ? &*restored_ : nullptr; }
  /// Newer checkpoints that are not whole, and why.
  const std::vector<std::string>& damaged() const { return damaged_; }

  /// Gives all ranks what the first one has restored.
  void share_restored();

  /// Checkpoints go there from now on. Without a folder none are written.
  void open(const RunFolder& folder);

  void save(const SavePoint& point);

  /// Saves an epoch that was evaluated if it is the best, the last, or due. `judged` is
  /// its evaluation, if there was one.
  void save_epoch(const SavePoint& point, const LossSum* judged, bool is_last);

  /// Throws what has gone wrong with a write.
  void rethrow_failure();

  /// Saves the last position, unless it was saved or there is none to save, and waits
  /// until all is on disk.
  void finish(const SavePoint* last);

  /// Seconds that training has waited for writes; none where time is virtual.
  double seconds_blocked() const;

 private:
  void restore();
  void continue_in(const RunFolder& folder);
  bool note_best(const LossSum& judged, const TrainPosition& position);
  void write(const SavePoint& point, bool evaluated, bool best);
  CheckpointState state(const SavePoint& point, bool evaluated) const;
  std::vector<LoadedPart> model_parts();
  std::vector<LoadedPart> optimizer_parts();

  TrainingParts& parts_;
  std::optional<CheckpointState> restored_;
  std::vector<std::string> damaged_;
  std::optional<BestMark> best_;
  std::optional<std::size_t> saved_step_;  // after its epoch's evaluation, if that is due
  std::optional<CheckpointWriter> writer_;  // the first rank's, while it trains
  double seconds_before_ = 0;               // that writers before this one took
  CheckpointWriter::OnSaved on_saved_;
};

/// Where a checkpoint was made.
TrainPosition position_of(const CheckpointState& state, std::size_t batch_size);

}  // namespace convoy
