// SPDX-License-Identifier: Apache-2.0
//
// WorkerSlots: one slot per worker, through which sessions' threads and the server's
// thread communicate. The base of ServerPort.
//
//   session                          server
//   enter()    -> joined  -> next()
//                            assign() -> take_answer()
//   deposit()  -> push    -> next()   ...
//   leave()    -> lost    -> next()
//
// Each session of a worker has a number. An answer of the server is for the session whose
// arrival it saw last: if that session has ended, the answer is dropped, even if the
// worker has joined again. A worker's numbers are overwritten only by its next push,
// which it sends only after the server's answer.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/lazy_buffer.h"
#include "convoy/params/stored_types.h"
#include "convoy/ps_transport/push.h"
#include "convoy/ps_transport/shared_numbers.h"

namespace convoy {

class WorkerSession;

/// The types in which a server and its workers exchange numbers.
struct ExchangedTypes {
  Dtype gradients = Dtype::fp32;
  const StoredTypes* values = nullptr;  // nullptr: fp32. Borrowed
  Range range{};                        // of the values, if they have types
};

struct ServerPortOptions {
  std::string token;          // of the job
  int workers = 1;            // numbered from 0
  std::size_t gradients = 0;  // floats per gradient: what is trained of its range
  /// Floats of batch statistics; only the first server receives them.
  std::size_t statistics = 0;
  /// Floats of an assignment that have no gradient: frozen values and statistics.
  std::size_t constants = 0;
  ExchangedTypes types{};
  std::vector<std::size_t> partials{};      // by worker: partials per push
  std::vector<std::size_t> microbatches{};  // by worker: losses per push
  /// After which a session ends.
  std::chrono::milliseconds silence = std::chrono::seconds(60);
  /// Called with one line per worker that joined, left, was lost or was refused, with the
  /// reason. Any thread may call it, one at a time.
  std::function<void(const std::string&)> log = nullptr;

  /// Numbers of an assignment, and their bytes.
  std::size_t pulled() const { return gradients + constants; }
  std::size_t pulled_bytes() const {
    if (types.values == nullptr) return pulled() * sizeof(float);
    return types.values->bytes(types.range) +
           (pulled() - types.range.size()) * sizeof(float);
  }
};

struct Arrival {
  enum class Kind { joined, push, lost };

  Kind kind = Kind::joined;
  int worker = 0;
  Push push{};                    // the following are set for a push
  std::span<float> gradients{};   // [partial][element]; the server may write to them
  std::span<float> statistics{};  // [partial][element]
  std::shared_ptr<const void> memory{};  // owner of shared memory that contains both
};

/// What a session sends next.
struct Answer {
  enum class Kind { none, assignment, over, refusal };

  Kind kind = Kind::none;
  Assignment assignment{};  // for the first two kinds
  std::string why{};        // for a refusal
};

class WorkerSlots {
 public:
  /// Reserves memory for what all workers send and receive.
  explicit WorkerSlots(const ServerPortOptions& options);

  // For the server's thread:

  /// Returns the next arrival; none if nothing arrived for that long. After `lost`,
  /// nothing of that worker arrives before its next `joined`; a push that was queued
  /// earlier comes first. A worker that leaves in any way before it was sent the end of
  /// the run is lost.
  std::optional<Arrival> next(std::chrono::milliseconds wait);

  /// Returns the next worker that joined or was lost, ahead of other workers' pushes;
  /// none if there is none now.
  std::optional<Arrival> next_change();

  /// Answers a worker that has joined or pushed, with the values of the server's range,
  /// and the statistics that are frozen.
  /// Does nothing if the worker is gone, or already has an answer.
  void assign(int worker, const Assignment& assignment, std::span<const float> values,
              std::span<const float> statistics = {});

  /// Closes the connection of a worker whose push is not acceptable; the worker and the
  /// log get the reason. The worker is lost.
  void refuse(int worker, const std::string& why);

  /// Tells every worker, connected or yet to join, that the run is over. Returns when the
  /// connected ones have received it and have left, or after that long.
  void finish(const Assignment& over, std::chrono::milliseconds wait);

  // For any thread:
  bool is_connected(int worker) const;

  // For the thread of a session; all but the first require that it has entered.

  /// Takes the worker's slot if its holder is gone, or is found to be. Returns false if
  /// the holder lives.
  bool enter(int worker, WorkerSession& session);
  Answer take_answer(int worker);
  /// Queues a push. Its numbers are in `shared`, which also receives the answer's values,
  /// or, if that is null or they were unpacked, in gradients() and statistics().
  void deposit(int worker, Push push, std::shared_ptr<SharedNumbers> shared);
  /// Frees the slot. This is a loss, unless the worker was sent the end of the run.
  void leave(int worker, bool said_goodbye);

  /// Memory for a push of 16-bit numbers as it is received, before it is unpacked.
  std::span<std::byte> packed(int worker, std::size_t bytes);
  std::span<float> gradients(int worker);
  std::span<float> statistics(int worker);
  /// As they are sent.
  std::span<const std::byte> values(int worker) const;

 private:
  struct Slot {
    LazyBuffer gradients{0}, statistics{0}, values{0};  // of a worker on another machine
    std::shared_ptr<SharedNumbers> shared{};            // of a worker that shares memory
    std::vector<std::byte> packed{};  // its last push, if that is of 16 bits
    WorkerSession* holder = nullptr;
    std::uint64_t session = 0;  // the holder's number, from 1
    std::uint64_t seen = 0;     // the session whose arrival the server saw last
    bool owes = false;          // the server has seen an arrival that it has not answered
    bool waits = false;         // the worker waits for an answer
    bool knows_end = false;     // the worker was sent the end of the run
    Answer answer{};            // for the worker
  };
  struct Queued {
    Arrival arrival;
    std::uint64_t session;
  };

  bool unpacks() const { return types_.gradients != Dtype::fp32; }
  Slot& at(int worker) { return *slots_[static_cast<std::size_t>(worker)]; }
  const Slot& at(int worker) const { return *slots_[static_cast<std::size_t>(worker)]; }
  void queue(Arrival arrival);
  Arrival take(std::deque<Queued>::iterator queued);
  bool may_answer(const Slot& slot) const;
  bool wait_until_free(std::unique_lock<std::mutex>& lock, Slot& slot);

  const ExchangedTypes types_;
  const std::size_t pulled_, pulled_bytes_;

  /// Protects everything below, except the numbers in slots.
  mutable std::mutex mutex_;
  std::condition_variable arrived_;   // something was queued
  std::condition_variable released_;  // a slot was released
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<Queued> queue_;
  std::optional<Assignment> over_;
};

}  // namespace convoy
