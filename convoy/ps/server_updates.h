// SPDX-License-Identifier: Apache-2.0
//
// ServerUpdates: this process is a parameter server, whose workers are other processes.
//
// What both kinds have in common: the port, the liveness of workers, the server's range,
// and how several servers synchronize. Each server applies pushes to its own range at its
// own pace; before an evaluation or a checkpoint, servers exchange their ranges, and
// every few updates they agree on whether to stop.
//
// A worker may die when only some servers have its push. Its replacement asks all servers
// what to do, including those that wait for other servers: so a server that waits for
// servers continues to answer workers (meet).

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
  std::shared_ptr<Listener> listener{};  // none: only planned, not run
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
  /// Throws InputError for settings that a parameter server does not support.
  ServerUpdates(const TrainingContext& parts, const ServiceOptions& service);

  /// Sends the other servers what else a checkpoint contains of each.
  virtual void share_counts() {}

  /// Returns the content of each worker's pushes.
  virtual std::vector<std::size_t> partials() const = 0;
  virtual std::vector<std::size_t> microbatches_by_worker() const = 0;

  std::size_t workers() const { return liveness_.workers(); }

  /// Returns the next arrival, if one comes within a moment. Updates the liveness of
  /// workers.
  std::optional<Arrival> next_arrival(const StepRequest& request);
  /// Returns an arrival that is already there; waiting_change() only returns workers that
  /// joined or left.
  std::optional<Arrival> waiting_arrival();
  std::optional<Arrival> waiting_change();

  /// Adds what all servers know about the update.
  void agree(const StepRequest& request, Update& update);

  /// Runs an operation with all servers, if there are others; until it is done,
  /// repeatedly calls `meanwhile`.
  void meet(const std::function<void()>& operation,
            const std::function<void()>& meanwhile);
  /// Whether it holds on all servers. All of them call it.
  bool all_servers(bool holds);
  /// Answers workers that joined or left while servers meet after an update.
  virtual void attend() {}

  /// Whether all servers meet after the update with that number.
  bool meets_after(std::size_t step) const;

  /// Whether to stop waiting: a single server may do so between updates.
  bool should_stop(const StepRequest& request) const {
    return !has_others() && request.stop_signal() != 0;
  }

  /// Updates the running statistics from those of `microbatches` micro-batches.
  void follow(std::span<const float> found, std::size_t microbatches);
  /// Records what a worker reported about its batch and the previous one.
  void note(int worker, const Push& push);
  std::span<const StepReport> reports() const { return reports_; }

  ServerPort& port() { return *port_; }
  std::size_t port_bytes() const;
  bool is_first() const { return parts_.comm.is_first(); }
  bool has_others() const { return parts_.comm.ranks() > 1; }
  /// The range that this server updates, if there are others.
  std::optional<Range> own_values() const {
    return has_others() ? std::optional(own_) : std::nullopt;
  }
  /// Answers a worker with the values of the server's range.
  void assign_values(int worker, const Assignment& assignment);
  /// What is trained of the server's range: workers push the gradients of that, packed.
  std::vector<Range> trained() const { return parts_.work.layout.trained_in(own_); }
  std::size_t pushed_size() const;

  TrainingContext parts_;
  Range own_;             // this server's range of the flat buffer
  FlatBuffer gradients_;  // of the last update, in its range; complete when synchronized
  WorkerLiveness liveness_;
  Stopwatch since_update_;

 private:
  std::span<const float> frozen_statistics() const;

  /// What servers exchange.
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
  ServerStatus status_;
  double seconds_waited_ = 0;
  std::vector<StepReport> reports_;  // by worker, the last report
  std::vector<double> slept_;        // by worker, total seconds
  double longest_batch_ = 0;         // seconds, over all workers
  /// Protects the log lines, which the port's threads add.
  std::mutex mutex_;
  std::vector<std::string> messages_;
  std::unique_ptr<ServerPort> port_;  // destroyed first: its threads use the log lines
};

/// Makes the server of the strategy that the settings name.
UpdateSourceFactory server_updates(const ServiceOptions& service);

}  // namespace convoy
