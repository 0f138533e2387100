// SPDX-License-Identifier: Apache-2.0
//
// Trainer: a run, planned and then run, on one rank of a job.
//
// Making one loads the data, builds the model and reserves all memory: whatever can be
// refused is refused then, before any rank talks to another. train() runs the loop
// (TrainingLoop). All ranks do the same, each on its own part of every update
// (UpdateSource); the first one also writes down what happens.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "convoy/updates/update_source_factory.h"

namespace convoy {

class Comm;
class FlatBuffer;
class Progress;
class RunFolder;
class RunSaver;
class StopRequest;
struct CheckpointState;
struct Outcome;
struct PolicyState;
struct SaveRequest;
struct Settings;
struct TrainingParts;
struct Workload;

class Trainer {
 public:
  /// Borrows the comm for as long as it lives. Updates come from this rank's
  /// micro-batches, or from where the factory says. Throws InputError for anything that
  /// does not fit.
  Trainer(const Settings& settings, Comm& comm);
  Trainer(const Settings& settings, Comm& comm, const UpdateSourceFactory& make_updates);
  ~Trainer();

  /// Afterwards the plan says which rank uses which kernels. All ranks call it.
  void gather_kernel_sets();

  /// Ranks, micro-batches, memory and steps, for people; what --dry-run shows.
  std::string plan() const;

  /// Trains. The first rank writes the run's folder: records, a final checkpoint,
  /// summary.json, in which `command` is kept; the others have no folder (nullptr), and a
  /// progress only if they have a log of their own. All get the same outcome. Throws
  /// InputError when the folder cannot be written, PeerError when a rank is lost.
  Outcome train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                const std::string& command);

  /// After each step `on_step` hears how many are done: on the thread that trains.
  void tell_steps_to(std::function<void(std::size_t)> on_step);

  /// Each checkpoint that is on disk, whole, is told of on another thread.
  void tell_checkpoints_to(
      std::function<void(const std::filesystem::path&, const SaveRequest&)> on_saved);

  /// What it resumes from; nullptr: nothing. Known to the first rank.
  const CheckpointState* restored() const;
  /// Newer checkpoints that are not whole, and why.
  const std::vector<std::string>& damaged() const;

  const Workload& work() const;
  std::size_t microbatches() const;
  /// What is evaluated and saved: the values and running statistics, or their averages if
  /// there are any.
  const FlatBuffer& values() const;
  const FlatBuffer& statistics() const;

  /// What a checkpoint holds besides numbers of buffers.
  PolicyState policy_state() const;
  void set_policy_state(const PolicyState& state);

 private:
  std::unique_ptr<TrainingParts> parts_;
  std::unique_ptr<RunSaver> saver_;
  std::function<void(std::size_t)> on_step_;
};

}  // namespace convoy
