// SPDX-License-Identifier: Apache-2.0
//
// UpdateSource: makes the updates of a run, one after the other.
//
// The trainer decides when and with which learning rates, records, evaluates and saves.
// This interface hides where gradients come from: this rank's micro-batches together with
// other ranks (LocalUpdates), workers that push them (ServerUpdates), or a virtual
// cluster (SimulatedRanks, SimulatedServer).

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/exit_code.h"
#include "convoy/base/train_position.h"
#include "convoy/comm/comm.h"
#include "convoy/network/loss.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/shard_plan.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/updates/checkpoint_part.h"
#include "convoy/updates/step_all_gather.h"
#include "convoy/updates/update_source_factory.h"

namespace convoy {

/// What a run trains with. Everything is borrowed.
struct TrainingContext {
  const Settings& settings;
  Comm& comm;
  const Workload& work;
  TrainingRig& rig;
};

/// What the trainer passes when it requests an update.
struct StepRequest {
  TrainPosition position;  // before the update; an epoch begins when it changes
  StepRates rates;
  /// The signal that asks this process to stop, or kTimeIsUp, as of now; 0: none.
  std::function<int()> stop_signal = [] { return 0; };
  /// Receives lines about workers, as soon as the source has them.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  bool gather_resources = false;  // the first rank requests all ranks' resource rows
  bool is_recorded = false;       // whether the update's `fields` are needed
};

/// A completed update.
struct Update {
  LossSum loss{};
  double rate = 0;     // learning rate of the update
  double seconds = 0;  // from the batch to new values
  /// Of the ranks or workers whose gradients were used.
  std::span<const StepReport> reports{};
  std::size_t first_reporter = 0;  // number of the first of them
  int stop_signal = 0;             // received by any process
  bool gather_resources = false;   // as known by all ranks
  bool diverged = false;
  Traffic worker_traffic{};  // total, between servers and workers
  /// Further fields of the step's record, about all updates since the last record; null
  /// if there are none.
  nlohmann::ordered_json fields = nullptr;
};

/// There will be no more updates, although more were planned.
struct NoMoreUpdates {
  std::string reason;  // "": this process was asked to stop
};

using NextUpdate = std::variant<Update, NoMoreUpdates>;

/// Reserved bytes.
struct UpdateMemory {
  std::size_t gradients = 0, activations = 0;
  /// Bytes of the values, and per optimizer slot, if they are not the complete layout's.
  std::optional<std::size_t> values{}, slot{};
};

/// Properties of a source, which do not change.
struct UpdateDescription {
  std::string strategy;
  std::size_t steps_per_epoch = 0, samples_per_epoch = 0;
  std::size_t microbatches = 1;
  std::size_t workers = 1;  // whose gradients make an update, together or in turn
  UpdateMemory memory{};
  std::string plan;  // lines of the plan: cluster and batch
  /// Gradients of the last update, borrowed from the source.
  FlatBuffer* gradients = nullptr;
  const Clock* clock = &kSteadyClock;  // clock of the records, borrowed
  /// The range of the values that this rank updates, if other ranks update the rest.
  std::optional<Range> own_values{};
  /// What is divided over the ranks, as long as no update is made.
  Sharding sharding{};
};

/// Totals from the first update on.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON is not declared noexcept.
struct UpdateTelemetry {
  double waiting_for_data = 0;            // seconds
  double exposed = 0;                     // seconds waited for other ranks
  double slept = 0;                       // seconds of delays that were injected
  std::vector<double> slept_by_worker{};  // if this process knows several
  Traffic worker_traffic{};               // besides that between ranks
  nlohmann::ordered_json summary_fields = nullptr;  // additional ones; null: none
};

/// All ranks of the comm make the same calls, with the same positions.
class UpdateSource : public CheckpointPart {
 public:
  const UpdateDescription& description() const { return description_; }

  /// Connects to the others. Called once, before the first update.
  virtual void begin() {}

  /// Makes the next update. Throws PeerError.
  virtual NextUpdate next(const StepRequest& request) = 0;

  /// Completes values and statistics on all ranks, and gradients and slots on the first,
  /// for an evaluation or a checkpoint. It costs nothing if no update was made since the
  /// last call.
  virtual void synchronize() {}

  /// Measures the running statistics of `values`, over an epoch.
  virtual void update_bn(const TrainPosition& /*position*/, FlatBuffer& /*values*/,
                         FlatBuffer& /*statistics*/) {}

  /// Ends the run with that reason. Returns lines about workers that were not read yet.
  virtual std::vector<std::string> finish(ExitCode /*code*/,
                                          const std::string& /*reason*/) {
    return {};
  }

  virtual UpdateTelemetry telemetry() const = 0;

 protected:
  /// Called by the constructor of every source.
  void describe(UpdateDescription description) { description_ = std::move(description); }

 private:
  UpdateDescription description_;
};

}  // namespace convoy
