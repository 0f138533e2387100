// SPDX-License-Identifier: Apache-2.0
//
// AsyncServer: how an asynchronous parameter server handles pulls and pushes.
//
//   set_connected(worker, true);
//   Assignment next = pull(worker);       // the next batch, with the current values
//   while (!next.over) {
//     ... the worker computes gradients of next.sequence ...
//     push(worker, what_it_sends, gradients, rates);    // makes one update
//     ... until may_pull(worker) ...
//     next = pull(worker);
//   }
//
// Every push is an update, in call order, of the server's range of the flat buffer. With
// one worker, an update is exactly that of strategy Single. The class has no sockets,
// threads or clock: real and virtual clusters use it alike.
//
// A push answers the last pull of its worker. A push that was already applied is ignored;
// a push that answers no pull is refused. Neither changes a bit.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/aligned.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/ps/delay_compensation.h"
#include "convoy/ps/staleness.h"
#include "convoy/ps_transport/push.h"

namespace convoy {

struct AsyncServerOptions {
  std::vector<std::uint64_t> batches;  // by worker: in the whole run
  CompensationOptions compensation{};
  bool scale_rate = false;  // divide the learning rate by the staleness
  /// Batches that a worker may be ahead of the slowest before it has to wait.
  std::optional<std::uint64_t> max_staleness{};
};

/// What a server updates; borrowed.
struct ServedRange {
  const Layout& layout;
  Range own;
  FlatBuffer& values;
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;  // nullptr: no clipping; requires the complete range
  /// nullptr: the loss is not scaled. Otherwise a push that is not finite counts as one
  /// that was applied, but changes nothing and lowers the scale.
  LossScaler* scaler = nullptr;
};

enum class PushResult { applied, repeated, refused };

struct Applied {
  PushResult result = PushResult::applied;
  std::uint64_t staleness = 0;  // if applied: updates since the worker's pull
  double rate = 0;              // if applied: the learning rate of the update
  std::string why{};            // if refused
};

/// State that a server keeps besides values and optimizer.
std::size_t async_server_bytes(const AsyncServerOptions& options, Range own);

class AsyncServer {
 public:
  /// Borrows everything but the options for as long as it lives.
  AsyncServer(const AsyncServerOptions& options, const ServedRange& served,
              ThreadTeam& team);

  /// Returns the worker's next batch, or that it has done all of them.
  Assignment pull(int worker);

  /// Makes an update from gradients of the server's range, which may be modified.
  Applied push(int worker, const Push& push, std::span<float> gradients,
               const StepRates& rates);

  /// Whether the worker may pull now. Workers that are too far ahead wait for those that
  /// are connected and have batches left; at first no worker is connected.
  bool may_pull(int worker) const;
  void set_connected(int worker, bool is_connected);

  /// The number of updates of the values.
  std::uint64_t version() const { return version_; }
  /// Batches done, by worker.
  std::vector<std::uint64_t> sequences() const;
  bool is_done(int worker) const;
  bool is_done() const;

  /// Continues from there; earlier pulls are void. Requires: one number per worker.
  void restore(std::uint64_t version, std::span<const std::uint64_t> sequences);
  /// The state of the compensation that a checkpoint keeps.
  std::vector<OptimizerSlot> slots();

  StalenessRecord& staleness() { return staleness_; }
  const StalenessRecord& staleness() const { return staleness_; }

 private:
  struct Worker {
    std::uint64_t batches = 0, done = 0;
    bool is_connected = false;
    std::optional<std::uint64_t> pulled{};  // version, until the push arrives
    AlignedBuffer<float> copy{};            // of the pulled values, if compensated
  };

  Worker& at(int worker);
  const Worker& at(int worker) const;
  static bool is_done(const Worker& worker) { return worker.done >= worker.batches; }
  /// Returns why a push answers no pull; empty if it does.
  std::string fault_of(const Worker& worker, const Push& push) const;
  void keep_copy(Worker& worker);
  double scaled_rate(double rate, std::uint64_t staleness) const;
  bool is_used(const Push& push);
  void update(const Worker& worker, const Push& push, std::span<float> gradients,
              const StepRates& rates);
  void advance(Worker& worker);
  void find_slowest();

  AsyncServerOptions options_;
  ServedRange served_;
  ThreadTeam& team_;
  std::optional<DelayCompensation> compensation_;
  std::vector<Worker> workers_;
  std::uint64_t version_ = 0;
  StalenessRecord staleness_;
  /// Fewest batches done among the workers that others wait for.
  std::uint64_t slowest_ = 0;
  /// How many workers have done only that many; 0: no worker waits.
  std::size_t are_slowest_ = 0;
};

}  // namespace convoy
