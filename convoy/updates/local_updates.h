// SPDX-License-Identifier: Apache-2.0
//
// LocalUpdates: this rank computes its micro-batches of every batch; a strategy makes one
// update from the gradients of all ranks.

#pragma once

#include "convoy/comm/async_comm.h"
#include "convoy/loader/loader.h"
#include "convoy/network/microbatches.h"
#include "convoy/strategy/strategy.h"
#include "convoy/updates/compute_timer.h"
#include "convoy/updates/delay_injector.h"
#include "convoy/updates/update_source.h"

namespace convoy {

/// How this rank computes its part of every update.
struct LocalUpdateOptions {
  std::string strategy;
  std::size_t microbatches;  // per batch, over all ranks
  Delay delay;               // injected on this rank
};

/// Makes the options from the settings, for one rank of a comm. Throws InputError.
LocalUpdateOptions local_update_options(const Settings& settings, const Comm& comm);

class LocalUpdates : public UpdateSource {
 public:
  LocalUpdates(const TrainingContext& parts, const LocalUpdateOptions& options);

  void begin() override { strategy_->begin(); }
  NextUpdate next(const StepRequest& request) override;
  void update_bn(const TrainPosition& position, FlatBuffer& values,
                 FlatBuffer& statistics) override;
  UpdateTelemetry telemetry() const override;

 private:
  nlohmann::ordered_json loader_fields() const;

  /// Totals up to a step.
  struct Reported {
    double data_seconds = 0, exposed_seconds = 0;
    std::uint64_t bytes = 0;
  };

  const Batch* next_batch(const TrainPosition& position);
  void start_all_gather(const StepRequest& request);
  LossSum finish_all_gather();
  Microbatches& planned_passes();
  Replica replica();
  Peers peers() { return {parts_.comm, async_, order_}; }
  MicrobatchPart own_microbatches() const {
    return order_.microbatches_of(parts_.comm.rank());
  }
  RngKey key(std::size_t step) const {
    return {parts_.settings.train.seed, static_cast<std::uint32_t>(step)};
  }

  double seconds_exposed() const {
    return strategy_->seconds_exposed() + seconds_agreeing_;
  }
  std::string plan(const std::string& strategy) const;
  UpdateMemory memory(const LocalUpdateOptions& options) const;

  TrainingContext parts_;
  ReductionOrder order_;
  Microbatches& microbatches_;  // of the rig
  AsyncComm async_;
  std::unique_ptr<Strategy> strategy_;
  DelayInjector delays_;
  ComputeTimer compute_timer_;
  StepAllGather all_gather_;
  Loader loader_;
  std::optional<int> epoch_;         // of the loader
  StepReport next_report_;           // of the next step, as far as it is known
  double seconds_agreeing_ = 0;      // total
  double seconds_in_measuring_ = 0;  // waiting for data that was not trained on
  Reported reported_;                // as of the last report
};

std::unique_ptr<UpdateSource> make_local_updates(const TrainingContext& parts);

}  // namespace convoy
