// SPDX-License-Identifier: Apache-2.0
//
// UpdateSource: what makes a run's updates, one after the other.
//
// The trainer decides when and with which rates, records, evaluates and saves. Where
// gradients come from is behind this: from this rank's micro-batches together with other
// ranks (LocalUpdates), from workers that push them (ServerUpdates), or from workers of a
// virtual cluster (SimulatedRanks, SimulatedServer).

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/network/loss.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/optimizer.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/workload.h"
#include "convoy/system/thread_team.h"
#include "convoy/updates/step_all_gather.h"

namespace convoy {

/// What a run trains, and with what. Borrowed, all of it.
struct TrainingContext {
  const Settings& settings;
  Comm& comm;
  const Workload& work;
  ThreadTeam& team;
  FlatBuffer& values;
  FlatBuffer& statistics;  // the running ones
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;  // if gradients are clipped
};

/// What the trainer knows when it asks for an update.
struct StepRequest {
  std::size_t step = 0;  // its number, from 0
  StepRates rates;
  /// The signal that asks this process to stop, or kTimeIsUp, as of now; 0: none.
  std::function<int()> stop_signal = [] { return 0; };
  bool gather_resources = false;  // wished by the first rank
};

struct Update {
  LossSum loss{};
  double rate = 0;                        // it was made with
  double seconds = 0;                     // from the batch to new values
  std::span<const StepReport> reports{};  // of those whose gradients these are
  std::size_t first_reporter = 0;         // the number of the first of them
  int stop_signal = 0;                    // that any process has received
  bool gather_resources = false;          // as all ranks know
  bool diverged = false;
};

/// Bytes that are reserved.
struct UpdateMemory {
  std::size_t gradients = 0, activations = 0;
};

/// So far, in all.
struct UpdateSeconds {
  double waiting_for_data = 0;
  double exposed = 0;  // waited for other ranks
  double slept = 0;    // delays that were injected
};

/// Together with all ranks of the comm, who do the same at the same steps.
class UpdateSource {
 public:
  virtual ~UpdateSource() = default;

  virtual std::string strategy() const = 0;
  virtual std::size_t per_epoch() const = 0;
  virtual std::size_t samples_per_epoch() const = 0;
  virtual std::size_t microbatches() const = 0;
  /// Those whose gradients an update is made of, now or in turn.
  virtual std::size_t workers() const = 0;

  /// Once, before the first.
  virtual void begin() {}
  /// Begins an epoch at one of its updates.
  virtual void start_epoch(int epoch, std::size_t first) = 0;
  /// The next one of the epoch; none if there will be no more. Throws PeerError.
  virtual std::optional<Update> make(const StepRequest& order) = 0;
  /// Whether no more can come, although more were planned; if so, why.
  virtual std::optional<std::string> reason_to_end() const { return std::nullopt; }

  /// Has all numbers on all ranks, for an evaluation or a checkpoint. Costs nothing if no
  /// update was made since the last time.
  virtual void complete() {}
  /// The gradients of the last update.
  virtual const FlatBuffer& gradients() = 0;
  /// The running statistics that `values` should have, over an epoch.
  virtual void update_bn(int epoch, std::size_t step, const FlatBuffer& values,
                         FlatBuffer& statistics) = 0;

  /// What a checkpoint keeps of it.
  virtual nlohmann::ordered_json state() const { return nullptr; }
  /// Throws InputError if it is none of its own.
  virtual void restore(const nlohmann::ordered_json& /*state*/, std::size_t /*step*/) {}
  /// What it remembers of every value.
  virtual std::vector<OptimizerSlot> slots() { return {}; }

  /// The run is over, for this reason.
  virtual void finish(ExitCode /*code*/, const std::string& /*reason*/) {}

  /// Lines about workers go there, as soon as make() hears of them.
  virtual void tell_messages_to(std::function<void(const std::string&)> /*say*/) {}

  /// The clock of its records.
  virtual const Clock& clock() const { return kSteadyClock; }
  virtual UpdateSeconds seconds() const = 0;
  /// Slept by each of several workers, where this process knows of all.
  virtual std::vector<double> slept_by_worker() const { return {}; }
  /// Bytes to and from workers, beside those between ranks.
  virtual Traffic worker_traffic() const { return {}; }
  virtual UpdateMemory memory() const = 0;
  /// Lines of the plan: who computes, and what an update consists of.
  virtual std::string plan() const = 0;
  /// Further fields of a step's record since the one before, and of the summary; null if
  /// there are none.
  virtual nlohmann::ordered_json step_fields() { return nullptr; }
  virtual nlohmann::ordered_json summary_fields() const { return nullptr; }
};

using UpdateSourceFactory =
    std::function<std::unique_ptr<UpdateSource>(const TrainingContext&)>;

}  // namespace convoy
