// SPDX-License-Identifier: Apache-2.0
//
// UpdateSource: makes the updates of a run, one after the other.
//
// The trainer decides when and with which learning rates, records, evaluates and saves.
// Where gradients come from is behind this interface: from this rank's micro-batches
// together with other ranks (LocalUpdates), from workers that push them (ServerUpdates),
// or from the workers of a virtual cluster (SimulatedRanks, SimulatedServer).

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
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/updates/checkpoint_part.h"
#include "convoy/updates/step_all_gather.h"
#include "convoy/updates/update_source_factory.h"

namespace convoy {

/// What a run trains, and with what. Everything is borrowed.
struct TrainingContext {
  const Settings& settings;
  Comm& comm;
  const Workload& work;
  TrainingRig& rig;
};

/// What the trainer knows when it asks for an update.
struct StepRequest {
  TrainPosition position;  // before the update; an epoch begins where it changes
  StepRates rates;
  /// The signal that asks this process to stop, or kTimeIsUp, as of now; 0: none.
  std::function<int()> stop_signal = [] { return 0; };
  /// Takes lines about workers, as soon as the source hears of them.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  bool gather_resources = false;  // the first rank wants everyone's resource rows
  bool is_recorded = false;       // the update's `fields` are wanted
};

/// One update that was made.
struct Update {
  LossSum loss{};
  double rate = 0;                        // learning rate it was made with
  double seconds = 0;                     // from the batch to new values
  std::span<const StepReport> reports{};  // of those whose gradients these are
  std::size_t first_reporter = 0;         // the number of the first of them
  int stop_signal = 0;                    // that any process has received
  bool gather_resources = false;          // as all ranks know
  bool diverged = false;
  Traffic worker_traffic{};  // so far, to and from workers, beside that between ranks
  /// Further fields of the step's record, about all updates since the record before; null
  /// if there are none.
  nlohmann::ordered_json fields = nullptr;
};

/// There will be no more updates, although more were planned.
struct NoMoreUpdates {
  std::string reason;  // "": this process was asked to stop
};

using NextUpdate = std::variant<Update, NoMoreUpdates>;

/// Bytes that are reserved.
struct UpdateMemory {
  std::size_t gradients = 0, activations = 0;
  /// Of each slot of the optimizer, where that is not the whole layout's.
  std::optional<std::size_t> slot{};
};

/// What a source is. It is known once the source is made, and does not change.
struct UpdateDescription {
  std::string strategy;
  std::size_t steps_per_epoch = 0, samples_per_epoch = 0;
  std::size_t microbatches = 1;
  std::size_t workers = 1;  // whose gradients an update is made of, together or in turn
  UpdateMemory memory{};
  std::string plan;  // lines of the plan: who computes, and what an update consists of
  /// Gradients of the last update, borrowed from the source.
  const FlatBuffer* gradients = nullptr;
  const Clock* clock = &kSteadyClock;  // that the records go by, borrowed
};

/// How it went so far, from the first update on.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON is not declared noexcept.
struct UpdateTelemetry {
  double waiting_for_data = 0;            // seconds
  double exposed = 0;                     // seconds waited for other ranks
  double slept = 0;                       // seconds of delays that were injected
  std::vector<double> slept_by_worker{};  // where this process knows of several
  Traffic worker_traffic{};               // beside that between ranks
  nlohmann::ordered_json summary_fields = nullptr;  // further ones; null: none
};

/// All ranks of the comm make the same calls, with the same positions.
class UpdateSource : public CheckpointPart {
 public:
  const UpdateDescription& description() const { return description_; }

  /// Connects to the others. Called once, before the first update.
  virtual void begin() {}

  /// Makes the next update. Throws PeerError.
  virtual NextUpdate next(const StepRequest& request) = 0;

  /// Completes values and statistics on all ranks, gradients and slots on the first, for
  /// an evaluation or a checkpoint. It costs nothing if no update was made since the last
  /// call.
  virtual void synchronize() {}

  /// Measures the running statistics that `values` should have, over an epoch.
  virtual void update_bn(const TrainPosition& /*position*/, const FlatBuffer& /*values*/,
                         FlatBuffer& /*statistics*/) {}

  /// Ends the run for that reason. Returns lines about workers that nobody has read yet.
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
