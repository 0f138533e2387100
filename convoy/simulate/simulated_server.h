// SPDX-License-Identifier: Apache-2.0
//
// SimulatedServer: a parameter server and its workers in one process, under a clock that
// jumps from event to event.
//
//   values leave the server   -> over its link -> a worker computes, is delayed
//   gradients leave it        -> over its link -> the server updates, in order of arrival
//
// Gradients are real and updates are those of the real server. A worker's gradient is
// computed when it is given its values, so that it needs no copy of them, and kept until
// its time to arrive has come. Only time is made up; so thousands of workers cost no
// waiting, and a run repeats to the bit.

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

    FlatBuffer gradients, statistics;  // of the push under way
    Push push;
    Delay delay;
    Link up, down;                     // its own, to and from the server's
    double slept = 0;                  // seconds, in all
    std::vector<std::uint32_t> order;  // of the samples of its epoch
    int epoch = 0;                     // whose order that is
  };

  enum class EventKind { computed, arrived };
  struct Event {
    EventKind kind;
    int worker;
  };

  /// Of the server, which all workers share.
  struct ServerLinks {
    Link in, out;
  };

  struct LastUpdate {
    FlatBuffer gradients;
    StepReport report{};
    double at = 0;  // seconds of the virtual clock
  };

  /// What the simulation takes itself.
  struct RealTime {
    Stopwatch since_begin{};
    double seconds = 0;    // from the begin to the last update
    double computing = 0;  // gradients alone
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
  std::uint64_t message_bytes() const;

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
  std::vector<int> waiting_;  // workers too far ahead
  LastUpdate last_;
  RealTime real_;
};

}  // namespace convoy
