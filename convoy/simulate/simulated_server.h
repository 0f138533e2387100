// SPDX-License-Identifier: Apache-2.0
//
// SimulatedServer: a parameter server and its workers in one process, with a virtual
// clock that advances from event to event.
//
//   values leave the server   -> over its link -> a worker computes, is delayed
//   gradients leave it        -> over its link -> the server updates, in order of arrival
//
// Gradients are real, and updates are those of the real server. A worker's gradient is
// computed when the worker gets its values, so that no copy of them is needed, and kept
// until its simulated arrival. Only time is simulated, so thousands of workers cost no
// waiting, and a run repeats bit for bit.

#pragma once

#include "convoy/cost_model/event_queue.h"
#include "convoy/cost_model/link.h"
#include "convoy/loader/batch_filler.h"
#include "convoy/network/microbatches.h"
#include "convoy/ps/async_server.h"
#include "convoy/ps/worker_schedule.h"
#include "convoy/simulate/compute_times.h"
#include "convoy/updates/delay.h"
#include "convoy/updates/update_source.h"

namespace convoy {

class SimulatedServer final : public UpdateSource {
 public:
  SimulatedServer(const TrainingContext& parts, int workers);

  void begin() override;
  NextUpdate next(const StepRequest& request) override;
  std::vector<OptimizerSlot> slots() override { return server_.slots(); }
  UpdateTelemetry telemetry() const override;

 private:
  struct VirtualWorker {
    VirtualWorker(const TrainingContext& parts, const Delay& delay);

    FlatBuffer gradients, statistics;  // of the current push
    Push push;
    Delay delay;
    Link up, down;                     // the worker's own, to and from the server's
    double slept = 0;                  // seconds, total
    std::vector<std::uint32_t> order;  // of the samples of its epoch
    int epoch = 0;                     // of that order
  };

  enum class EventKind { computed, arrived };
  struct Event {
    EventKind kind;
    int worker;
  };

  /// The links of the server, which all workers share.
  struct ServerLinks {
    Link in, out;
  };

  struct LastUpdate {
    FlatBuffer gradients;
    StepReport report{};
    double at = 0;  // seconds on the virtual clock
  };

  /// The real time that the simulation takes.
  struct RealTime {
    Stopwatch since_begin{};
    double seconds = 0;    // from the beginning to the last update
    double computing = 0;  // gradients only
  };

  VirtualWorker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  void give_work(int worker);
  void release_waiting();
  void compute(int worker, const Assignment& next);
  BatchShare batch(int worker, std::uint64_t sequence);
  Update apply(int worker, const StepRequest& request);
  nlohmann::ordered_json step_fields();
  UpdateMemory memory() const;
  std::string plan() const;
  std::uint64_t push_bytes() const;
  std::uint64_t values_bytes() const;

  TrainingContext parts_;
  WorkerSchedule schedule_;
  AsyncServer server_;
  PassListener nobody_;
  BatchFiller filler_;
  AlignedBuffer<float> images_;
  AlignedBuffer<std::int32_t> labels_;
  ComputeTimes times_;
  std::vector<VirtualWorker> workers_;
  EventQueue<Event> events_;
  VirtualClock clock_;
  ServerLinks links_;
  std::vector<int> waiting_;  // workers that are too far ahead
  LastUpdate last_;
  RealTime real_;
};

}  // namespace convoy
