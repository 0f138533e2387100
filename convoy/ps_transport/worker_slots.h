// SPDX-License-Identifier: Apache-2.0
//
// WorkerSlots: a server's places for workers, and what is between their sessions' threads
// and the server's. Internal to ServerPort.
//
//   session                          server
//   enter()    -> joined  -> next()
//                            assign() -> take_answer()
//   deposit()  -> push    -> next()   ...
//   leave()    -> lost    -> next()
//
// Each session of a worker has a number. What the server answers is for the session whose
// arrival it has seen last: if that one has ended, the answer goes to nobody, also when
// the worker is back already. Numbers that a worker pushed are overwritten by its next
// push alone, and there is none before the server has answered.

#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/lazy_buffer.h"
#include "convoy/ps_transport/server_port.h"
#include "convoy/ps_transport/shared_numbers.h"

namespace convoy {

/// A session as its slot needs it. All may be called by any thread.
class WorkerLine {
 public:
  virtual ~WorkerLine() = default;
  virtual void wake() = 0;
  /// Ends the session soon, for that reason, which lives for ever.
  virtual void cut(const char* why) = 0;
  /// Asks it to find out whether its worker is still there.
  virtual void probe() = 0;
  /// Whether the worker has been heard of since probe().
  virtual bool shows_life() const = 0;
};

/// What a session has to say next.
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
  std::optional<Arrival> next(std::chrono::milliseconds wait);
  std::optional<Arrival> next_change();
  void assign(int worker, const Assignment& assignment, std::span<const float> values);
  void refuse(int worker, const std::string& why);
  void finish(const Assignment& over, std::chrono::milliseconds wait);

  // Any thread.
  bool is_connected(int worker) const;

  // A session's thread. Those that name no line are for who has entered.

  /// Takes the worker's slot, if its holder is gone, or is found to be. False if the
  /// holder lives.
  bool enter(int worker, WorkerLine& line);
  Answer take_answer(int worker);
  /// Queues a push. Its numbers are in `shared`, where the answer's values shall go, or,
  /// if that is null, in gradients() and statistics().
  void deposit(int worker, Push push, std::shared_ptr<SharedNumbers> shared);
  /// Frees the slot. A loss, unless it was told that the run is over.
  void leave(int worker, bool said_goodbye);

  std::span<float> gradients(int worker);
  std::span<float> statistics(int worker);
  std::span<const float> values(int worker) const;

 private:
  struct Slot {
    LazyBuffer gradients{0}, statistics{0}, values{0};  // of a worker elsewhere
    std::shared_ptr<SharedNumbers> shared{};            // of one that shares memory
    WorkerLine* line = nullptr;                         // of the session that holds it
    std::uint64_t session = 0;                          // its number, from 1
    std::uint64_t seen = 0;  // the session whose arrival the server saw last
    bool owes = false;       // the server has seen what it has not answered
    bool waits = false;      // the worker waits for an answer
    bool was_told = false;   // that the run is over
    Answer answer{};         // for the worker
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
