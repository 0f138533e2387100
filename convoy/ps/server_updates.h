// SPDX-License-Identifier: Apache-2.0
//
// ServerUpdates: this process is a parameter server, whose workers are elsewhere.
//
// What both kinds have in common: the port, who is there, the server's range, and, if
// there are several servers, how they come together. Each applies pushes to its own range
// at its own pace; before an evaluation or a checkpoint they give each other their
// ranges, and every so many updates they agree on whether to stop.
//
// A worker may die when some servers have its push and others have not. Who takes its
// place asks all of them what to do, also those that wait for the others: so a server
// that waits for servers goes on answering workers (meet).

#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "convoy/ps/worker_liveness.h"
#include "convoy/ps_transport/server_port.h"
#include "convoy/updates/update_source.h"

namespace convoy {

struct ServiceOptions {
  int workers = 1;
  std::string token{};
  std::shared_ptr<Listener> listener{};  // none: it is only planned, not run
  /// Called as soon as workers are answered.
  std::function<void()> on_open = nullptr;
};

class ServerUpdates : public UpdateSource {
 public:
  void begin() override;
  void synchronize() override;
  std::vector<std::string> finish(ExitCode code, const std::string& reason) override;
  UpdateTelemetry telemetry() const override;

 protected:
  /// Throws InputError for settings that do not go with it.
  ServerUpdates(const TrainingContext& parts, const ServiceOptions& service);

  /// Tells the other servers what else a checkpoint has of each.
  virtual void share_counts() {}

  /// What a push of each worker consists of.
  virtual std::vector<std::size_t> partials() const = 0;
  virtual std::vector<std::size_t> microbatches_by_worker() const = 0;

  std::size_t workers() const { return liveness_.workers(); }

  /// The next arrival, if one comes within a moment. Knows who is there.
  std::optional<Arrival> next_arrival(const StepRequest& request);
  /// The same of one that is there now; of those who came or went only.
  std::optional<Arrival> waiting_arrival();
  std::optional<Arrival> waiting_change();

  /// Adds what all servers know of the update that was made.
  void agree(const StepRequest& request, Update& update);

  /// Returns when all servers have come here; now and then calls `meanwhile` until then.
  void meet(const std::function<void()>& meanwhile);
  /// Answers who came and went, while servers meet after an update.
  virtual void attend() {}

  /// Whether all servers come together after the update of that number.
  bool meets_after(std::size_t step) const;

  /// Whether to leave off waiting: one server alone may do so between updates.
  bool should_stop(const StepRequest& request) const {
    return !has_others() && request.stop_signal() != 0;
  }

  /// New running statistics from what `microbatches` micro-batches found.
  void follow(std::span<const float> found, std::size_t microbatches);
  /// Notes what a worker said of its batch, and of that before it.
  void note(int worker, const Push& push);
  std::span<const StepReport> reports() const { return reports_; }

  ServerPort& port() { return *port_; }
  std::size_t port_bytes() const;
  bool is_first() const { return parts_.comm.is_first(); }
  bool has_others() const { return parts_.comm.ranks() > 1; }
  std::span<const float> own_values() const { return parts_.rig.values().view(own_); }

  TrainingContext parts_;
  Range own_;             // this server's, of the flat buffer
  FlatBuffer gradients_;  // of the last update, in its range; of all when synchronized
  WorkerLiveness liveness_;
  Stopwatch since_update_;

 private:
  /// What servers tell each other.
  struct ServerStatus {
    std::int64_t stop_signal = 0, diverged = 0;
  };

  std::vector<std::string> take_messages();
  Traffic worker_traffic() const;
  void note_liveness(const std::optional<Arrival>& arrival);
  void share(FlatBuffer& numbers);
  void gather(FlatBuffer& numbers);
  void keep_own_range();

  ServiceOptions service_;
  bool synchronized_ = true;
  ServerStatus told_;
  double seconds_waited_ = 0;
  std::vector<StepReport> reports_;  // by worker, the last
  std::vector<double> slept_;        // by worker, in all
  double longest_batch_ = 0;         // seconds, of any worker
  std::mutex mutex_;                 // of the messages, which the port's threads add
  std::vector<std::string> messages_;
  std::unique_ptr<ServerPort> port_;  // the first to go: its threads have messages
};

/// The server of the strategy that the settings name.
UpdateSourceFactory server_updates(const ServiceOptions& service);

}  // namespace convoy
