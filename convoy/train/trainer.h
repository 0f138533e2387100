// SPDX-License-Identifier: Apache-2.0
//
// Trainer: plans a run and runs it, on one rank of a job.
//
// The constructor loads the data, builds the model and reserves all memory: invalid input
// is refused then, before ranks communicate. train() runs the loop (TrainingLoop). All
// ranks do the same, each on its part of every update (UpdateSource); the first rank also
// writes the records.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/fit/job_shape.h"
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
  /// micro-batches, or from the source that the factory makes. Throws InputError for
  /// invalid settings.
  Trainer(const Settings& settings, Comm& comm);
  /// If the job is given, its memory is planned: what does not fit is refused.
  Trainer(const Settings& settings, Comm& comm, const UpdateSourceFactory& make_updates,
          const std::optional<JobShape>& job = {});
  ~Trainer();

  /// Afterwards the plan says which rank uses which kernels. All ranks call it.
  void gather_kernel_sets();

  /// Describes ranks, micro-batches, memory and steps, as --dry-run prints them.
  std::string plan() const;

  /// Trains. The first rank writes the run's folder: records, a final checkpoint, and
  /// summary.json, which contains `command`; the others have no folder (nullptr), and a
  /// progress only if they have a log. All get the same outcome. Throws InputError if the
  /// folder cannot be written, PeerError if a rank is lost.
  Outcome train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                const std::string& command);

  /// Called after each step with the number of completed steps, on the thread that
  /// trains.
  void tell_steps_to(std::function<void(std::size_t)> on_step);

  /// Called on another thread for each checkpoint that is complete on disk.
  void tell_checkpoints_to(
      std::function<void(const std::filesystem::path&, const SaveRequest&)> on_saved);

  /// What it resumes from; nullptr: nothing. Known on the first rank only.
  const CheckpointState* restored() const;
  /// Newer checkpoints that are damaged, and why.
  const std::vector<std::string>& damaged() const;

  const Workload& work() const;
  std::size_t microbatches() const;
  /// What is evaluated and saved: the values and running statistics, or their averages if
  /// there are any.
  const FlatBuffer& values() const;
  const FlatBuffer& statistics() const;

  /// What a checkpoint contains besides buffers.
  PolicyState policy_state() const;
  void set_policy_state(const PolicyState& state);

 private:
  std::unique_ptr<TrainingParts> parts_;
  std::unique_ptr<RunSaver> saver_;
  std::function<void(std::size_t)> on_step_;
};

}  // namespace convoy
