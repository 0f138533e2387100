// SPDX-License-Identifier: Apache-2.0
//
// WorkerSlots: a server's places for workers, and what passes between the threads of
// their sessions and the server's thread. The base of ServerPort.
//
//   session                          server
//   enter()    -> joined  -> next()
//                            assign() -> take_answer()
//   deposit()  -> push    -> next()   ...
//   leave()    -> lost    -> next()
//
// Each session of a worker has a number. What the server answers is for the session whose
// arrival it has seen last: if that one has ended, the answer is dropped, also when the
// worker has joined again. Numbers that a worker pushed are overwritten by its next push
// alone, and there is none before the server has answered.

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
#include "convoy/ps_transport/push.h"
#include "convoy/ps_transport/shared_numbers.h"

namespace convoy {

class WorkerSession;

struct ServerPortOptions {
  std::string token;          // of the job
  int workers = 1;            // numbered from 0
  std::size_t gradients = 0;  // floats of one gradient: the server's range
  /// Floats of what batch norms found; the first server's alone.
  std::size_t statistics = 0;
  std::vector<std::size_t> partials{};      // by worker: how many of each a push has
  std::vector<std::size_t> microbatches{};  // by worker: how many losses a push has
  std::chrono::milliseconds silence = std::chrono::seconds(60);  // that ends a session
  /// Called with one line per worker that joined, left, was lost or was refused, and why.
  /// By any thread, one at a time.
  std::function<void(const std::string&)> log = nullptr;
};

struct Arrival {
  enum class Kind { joined, push, lost };

  Kind kind = Kind::joined;
  int worker = 0;
  Push push{};                    // of a push, as are these
  std::span<float> gradients{};   // [partial][element]; the server may write to them
  std::span<float> statistics{};  // [partial][element]
  std::shared_ptr<const void> memory{};  // which both are in, if the worker shares it
};

/// What a session sends next.
struct Answer {
  enum class Kind { none, assignment, over, refusal };

  Kind kind = Kind::none;
  Assignment assignment{};  // of the first two
  std::string why{};        // of a refusal
};

class WorkerSlots {
 public:
  /// Reserves memory for what all workers send and receive.
  explicit WorkerSlots(const ServerPortOptions& options);

  // The server's thread.

  /// The next arrival; none if there was none for that long. After `lost` nothing of that
  /// worker arrives before its next `joined`; a push that was queued before is first. A
  /// worker is lost that leaves in any way before it was sent the end of the run.
  std::optional<Arrival> next(std::chrono::milliseconds wait);

  /// The next worker that joined or was lost, past pushes of others; none if there is
  /// none now.
  std::optional<Arrival> next_change();

  /// Answers a worker that has joined or pushed, with the values of the server's range.
  /// If the worker is gone, or has an answer already, nothing happens.
  void assign(int worker, const Assignment& assignment, std::span<const float> values);

  /// Closes the connection of a worker whose push is not acceptable; the worker and the
  /// log get the reason. It is lost.
  void refuse(int worker, const std::string& why);

  /// Sends every worker, connected or yet to join, that the run is over, and returns when
  /// the connected ones have received it and have gone, or after that long.
  void finish(const Assignment& over, std::chrono::milliseconds wait);

  // Any thread.
  bool is_connected(int worker) const;

  // The thread of a session. All but the first require that it has entered.

  /// Takes the worker's slot, if its holder is gone, or is found to be. False if the
  /// holder lives.
  bool enter(int worker, WorkerSession& session);
  Answer take_answer(int worker);
  /// Queues a push. Its numbers are in `shared`, where the answer's values shall go, or,
  /// if that is null, in gradients() and statistics().
  void deposit(int worker, Push push, std::shared_ptr<SharedNumbers> shared);
  /// Frees the slot. A loss, unless the worker was sent the end of the run.
  void leave(int worker, bool said_goodbye);

  std::span<float> gradients(int worker);
  std::span<float> statistics(int worker);
  std::span<const float> values(int worker) const;

 private:
  struct Slot {
    LazyBuffer gradients{0}, statistics{0}, values{0};  // of a worker elsewhere
    std::shared_ptr<SharedNumbers> shared{};            // of one that shares memory
    WorkerSession* holder = nullptr;
    std::uint64_t session = 0;  // the holder's number, from 1
    std::uint64_t seen = 0;     // the session whose arrival the server saw last
    bool owes = false;          // the server has seen what it has not answered
    bool waits = false;         // the worker waits for an answer
    bool knows_end = false;     // the worker was sent the end of the run
    Answer answer{};            // for the worker
  };
  struct Queued {
    Arrival arrival;
    std::uint64_t session;
  };

  Slot& at(int worker) { return *slots_[static_cast<std::size_t>(worker)]; }
  const Slot& at(int worker) const { return *slots_[static_cast<std::size_t>(worker)]; }
  void queue(Arrival arrival);
  Arrival take(std::deque<Queued>::iterator queued);
  bool may_answer(const Slot& slot) const;
  bool wait_until_free(std::unique_lock<std::mutex>& lock, Slot& slot);

  mutable std::mutex mutex_;          // of all below, but for the numbers in slots
  std::condition_variable arrived_;   // something was queued
  std::condition_variable released_;  // a slot was
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<Queued> queue_;
  std::optional<Assignment> over_;
};

}  // namespace convoy
