// SPDX-License-Identifier: Apache-2.0
//
// EventRecorder: what a listener heard, as words: "forward 0", "ready 3" ...

#pragma once

#include <string>
#include <vector>

#include "convoy/params/pass_listener.h"

namespace convoy {

class EventRecorder : public PassListener {
 public:
  void before_forward(UnitId unit) override { add("before forward", unit); }
  void after_forward(UnitId unit) override { add("after forward", unit); }
  void before_backward(UnitId unit) override { add("before backward", unit); }
  void gradient_ready(SegmentId segment) override { add("ready", segment); }

  std::vector<std::string> events;

 private:
  template <class Id>
  void add(const std::string& what, Id id) {
    events.push_back(what + " " + std::to_string(static_cast<std::size_t>(id)));
  }
};

/// The events of one pass of a network of `units`, each with a weight and a bias.
inline std::vector<std::string> pass_events(std::size_t units, bool with_gradients) {
  EventRecorder recorder;
  for (std::size_t unit = 0; unit < units; ++unit) {
    recorder.before_forward(UnitId{unit});
    recorder.after_forward(UnitId{unit});
  }
  for (std::size_t unit = units; unit-- > 0;) {
    recorder.before_backward(UnitId{unit});
    if (!with_gradients) continue;
    recorder.gradient_ready(SegmentId{2 * unit});
    recorder.gradient_ready(SegmentId{2 * unit + 1});
  }
  return recorder.events;
}

}  // namespace convoy
