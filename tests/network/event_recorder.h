// SPDX-License-Identifier: Apache-2.0
//
// EventRecorder: what a listener heard, as words: "forward 0", "ready 3" ...

#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "convoy/params/pass_listener.h"

namespace convoy {

class EventRecorder : public PassListener {
 public:
  void begin_microbatch(const MicrobatchPass& pass) override { passes.push_back(pass); }
  void before_forward(UnitId unit) override { add("before forward", unit); }
  void after_forward(UnitId unit) override { add("after forward", unit); }
  void before_backward(UnitId unit) override { add("before backward", unit); }
  void gradient_ready(SegmentId segment) override { add("ready", segment); }
  void after_backward(UnitId unit) override { add("after backward", unit); }

  std::vector<MicrobatchPass> passes;
  std::vector<std::string> events;

 private:
  template <class Id>
  void add(const std::string& what, Id id) {
    events.push_back(what + " " + std::to_string(static_cast<std::size_t>(id)));
  }
};

/// The events of one pass, the segments of a unit in the layout's order.
inline std::vector<std::string> pass_events(const Layout& layout, bool with_gradients) {
  EventRecorder recorder;
  for (std::size_t unit = 0; unit < layout.unit_count(); ++unit) {
    recorder.before_forward(UnitId{unit});
    recorder.after_forward(UnitId{unit});
  }
  for (std::size_t unit = layout.unit_count(); unit-- > 0;) {
    recorder.before_backward(UnitId{unit});
    for (std::size_t i = 0; i < layout.segments().size(); ++i) {
      if (with_gradients && layout.segments()[i].unit == UnitId{unit}) {
        recorder.gradient_ready(SegmentId{i});
      }
    }
    recorder.after_backward(UnitId{unit});
  }
  return recorder.events;
}

/// The same events with the segments of each unit in the layout's order: which of them is
/// ready first is the network's to choose.
inline std::vector<std::string> in_layout_order(std::vector<std::string> events) {
  const auto is_ready = [](const std::string& event) {
    return event.starts_with("ready");
  };
  const auto number = [](const std::string& event) { return std::stoi(event.substr(6)); };
  for (auto first = events.begin(); first != events.end();) {
    first = std::find_if(first, events.end(), is_ready);
    const auto last = std::find_if_not(first, events.end(), is_ready);
    std::ranges::sort(first, last, {}, number);
    first = last;
  }
  return events;
}

}  // namespace convoy
