// SPDX-License-Identifier: Apache-2.0
//
// AsyncServer: what an asynchronous parameter server does with pulls and pushes.
//
//   set_connected(worker, true);
//   Assignment next = pull(worker);             // the batch to do, with the values now
//   while (!next.over) {
//     ... the worker computes gradients of next.sequence ...
//     push(worker, what_it_sends, gradients, rates);       // is an update of its own
//     ... until may_go_on(worker) ...
//     next = pull(worker);
//   }
//
// Every push is an update, in the order of calls, of the server's own range of the flat
// buffer. With one worker an update is exactly what strategy Single makes. There are no
// sockets, threads or clocks in it: real and virtual clusters use the same.
//
// A push answers the last pull of its worker. One that has been applied before is
// ignored; one that answers nothing is refused. Either changes no bit.

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
  std::vector<std::uint64_t> batches;  // by worker: to do in the whole run
  CompensationOptions compensation{};
  bool scale_rate = false;  // the rate is divided by the staleness
  /// Batches that a worker may be ahead of the slowest before it has to wait.
  std::optional<std::uint64_t> max_staleness{};
};

/// What a server updates, borrowed.
struct ServedRange {
  const Layout& layout;
  Range own;
  FlatBuffer& values;
  Optimizer& optimizer;
  ClipNorm* clip = nullptr;  // if any; needs a range that is everything
};

enum class PushFate { applied, repeated, refused };

struct Applied {
  PushFate fate = PushFate::applied;
  std::uint64_t staleness = 0;  // if applied: updates since the worker's pull
  double rate = 0;              // the same: what it was made with
  std::string why{};            // if refused
};

/// Of what a server keeps beside values and optimizer.
std::size_t async_server_bytes(const AsyncServerOptions& options, Range own);

class AsyncServer {
 public:
  /// Borrows all but the options for as long as it lives.
  AsyncServer(const AsyncServerOptions& options, const ServedRange& served,
              ThreadTeam& team);

  /// The worker's next batch, or that it has done all of them.
  Assignment pull(int worker);

  /// Makes an update of gradients, which are those of its range and may be changed.
  Applied push(int worker, const Push& push, std::span<float> gradients,
               const StepRates& rates);

  /// Whether the worker may pull now. Those that are connected and have batches left hold
  /// up the ones too far ahead; nobody is connected at first.
  bool may_go_on(int worker) const;
  void set_connected(int worker, bool is_connected);

  /// Updates that the values have had.
  std::uint64_t version() const { return version_; }
  /// By worker: batches that it has done.
  std::vector<std::uint64_t> sequences() const;
  bool is_done(int worker) const;
  bool is_done() const;

  /// Goes on from there; what was pulled before is void. Requires: a number a worker.
  void restore(std::uint64_t version, std::span<const std::uint64_t> sequences);
  /// What a checkpoint keeps of the compensation.
  std::vector<OptimizerSlot> slots();

  StalenessRecord& staleness() { return staleness_; }
  const StalenessRecord& staleness() const { return staleness_; }

 private:
  struct Worker {
    std::uint64_t batches = 0, done = 0;
    bool is_connected = false;
    std::optional<std::uint64_t> pulled{};  // version, until it is answered
    AlignedBuffer<float> copy{};            // of the values pulled, if compensated
  };

  Worker& at(int worker);
  const Worker& at(int worker) const;
  static bool is_done(const Worker& worker) { return worker.done >= worker.batches; }
  /// Why a push answers nothing; empty if it does.
  std::string fault_of(const Worker& worker, const Push& push) const;
  void keep_copy(Worker& worker);
  double scaled_rate(double rate, std::uint64_t staleness) const;
  void update(const Worker& worker, std::span<float> gradients, const StepRates& rates);
  void advance(Worker& worker);
  void find_slowest();

  AsyncServerOptions options_;
  ServedRange served_;
  ThreadTeam& team_;
  std::optional<DelayCompensation> compensation_;
  std::vector<Worker> workers_;
  std::uint64_t version_ = 0;
  StalenessRecord staleness_;
  std::uint64_t slowest_ = 0;    // batches done by the slowest who hold others up
  std::size_t are_slowest_ = 0;  // how many that are; none: nobody is held up
};

}  // namespace convoy
