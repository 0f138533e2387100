// SPDX-License-Identifier: Apache-2.0
//
// PsAsync: a server that makes one update per push, in order of arrival.

#pragma once

#include "convoy/ps/async_server.h"
#include "convoy/ps/server_updates.h"
#include "convoy/ps/worker_schedule.h"

namespace convoy {

class PsAsync final : public ServerUpdates {
 public:
  PsAsync(const TrainingContext& parts, const ServiceOptions& service);

  NextUpdate next(const StepRequest& request) override;
  nlohmann::ordered_json state() const override;
  void restore(const nlohmann::ordered_json& state, std::size_t step) override;
  std::vector<OptimizerSlot> slots() override { return server_.slots(); }
  UpdateTelemetry telemetry() const override;

 private:
  void share_counts() override;
  std::vector<std::uint64_t> pushes_in(const nlohmann::ordered_json& state,
                                       std::size_t step) const;
  std::vector<std::size_t> partials() const override;
  std::vector<std::size_t> microbatches_by_worker() const override;
  void attend() override;
  void receive(const Arrival& arrival);
  std::span<float> unpacked(std::span<float> pushed);
  std::optional<Update> apply(const Arrival& arrival, const StepRequest& request);
  void give_work(int worker);
  void release_waiting();
  std::optional<std::string> missing_workers() const;
  UpdateMemory memory() const;
  std::string plan() const;

  WorkerSchedule schedule_;
  AsyncServer server_;
  std::vector<std::uint64_t> pushes_;  // [server][worker], applied, as last synchronized
  std::vector<int> waiting_;           // workers that are too far ahead
};

}  // namespace convoy
