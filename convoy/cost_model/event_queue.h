// SPDX-License-Identifier: Apache-2.0
//
// EventQueue: a virtual clock that advances from event to event.
//
//   queue.schedule(queue.now() + 0.010, arrival);
//   while (!queue.empty()) handle(queue.next());
//
// Events with the same time come in the order in which they were scheduled, so a
// simulation that uses no other clock repeats exactly.

#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {

template <class Payload>
class EventQueue {
 public:
  /// The time of the last event, in seconds.
  double now() const { return now_; }
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }

  /// Requires: not in the past.
  void schedule(double time, Payload payload) {
    check(time >= now_, "an event is not in the past");
    events_.push({time, scheduled_++, std::move(payload)});
  }

  /// Takes the earliest event and sets the clock to its time. Requires: not empty.
  Payload next() {
    check(!events_.empty(), "there is an event");
    Event event = events_.top();
    events_.pop();
    now_ = event.time;
    return std::move(event.payload);
  }

 private:
  struct Event {
    double time;
    std::uint64_t number;
    Payload payload;

    /// std::priority_queue has its greatest element on top.
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  std::priority_queue<Event> events_;
  std::uint64_t scheduled_ = 0;
  double now_ = 0;
};

}  // namespace convoy
