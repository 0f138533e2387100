// SPDX-License-Identifier: Apache-2.0
//
// Worker: computes gradients for parameter servers, batch by batch, as assigned.
//
// It keeps no state: an assignment says which batch is next, and has the values. So a
// worker that replaces a dead one continues where that one was.

#pragma once

#include <functional>
#include <optional>

#include "convoy/fit/job_shape.h"
#include "convoy/loader/loader.h"
#include "convoy/ps/worker_schedule.h"
#include "convoy/ps_transport/worker_port.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/system/stop_request.h"
#include "convoy/updates/compute_timer.h"

namespace convoy {

struct WorkerPlace {
  int worker = 0, workers = 1;
  int servers = 1;
  /// If it is given, memory is planned, and what does not fit is refused.
  std::optional<JobShape> job{};
};

class Worker {
 public:
  /// Loads the data and builds the model. Throws InputError for invalid settings.
  Worker(const Settings& settings, const WorkerPlace& place);

  /// How it connects to the servers.
  WorkerPortOptions port_options(const std::vector<ServerAddress>& servers,
                                 const std::string& token);

  /// Works until the servers say that the run is over; returns how it ended. `on_step` is
  /// called with the version of the values. Throws PeerError.
  Assignment run(WorkerPort& port, const StopRequest& stop,
                 const std::function<void(std::size_t)>& on_step);

 private:
  /// What it computes: samples, in some worker's order, and which micro-batches of their
  /// batches.
  struct Plan {
    std::size_t microbatches;
    MicrobatchPart part;
    std::vector<std::uint32_t> samples;
    std::uint32_t order_of;  // worker whose sample order it is
  };

  Plan plan() const;
  const Batch& batch(std::uint64_t sequence);
  RngKey key(std::uint64_t sequence) const;
  Push compute(const Assignment& next);

  Settings settings_;
  WorkerPlace place_;
  Workload work_;
  std::optional<WorkerSchedule> schedule_;  // if it has its own pace (ps_async)
  Plan plan_;
  TrainingRig rig_;
  std::optional<StoredTypes> types_;  // of the values, if they are not fp32
  bool judges_ = false;               // it says whether gradients are finite (ps_async)
  PassListener nobody_;
  DelayInjector delays_;
  ComputeTimer compute_timer_;
  Loader loader_;
  std::optional<std::uint64_t> last_;  // last batch from the loader
  double reported_data_seconds_ = 0;
};

}  // namespace convoy
