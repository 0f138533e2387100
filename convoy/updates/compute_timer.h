// SPDX-License-Identifier: Apache-2.0
//
// ComputeTimer: sits between network and strategy and measures this rank's compute time.
//
// A step's wall time is the same on all ranks, since they wait for each other. A slow
// rank is recognized by the time from the beginning of the step to its last gradient,
// which no other rank can lengthen: the time in which the strategy exchanges units is
// left out. It includes injected delays: they are slept after backward, before the last
// gradient goes to the strategy.

#pragma once

#include <cstddef>

#include "convoy/base/clock.h"
#include "convoy/params/pass_listener.h"
#include "convoy/updates/delay_injector.h"

namespace convoy {

class ComputeTimer final : public PassListener {
 public:
  /// Forwards all events to `strategy`, which gets `segments` gradients per step, those
  /// of trained segments. Borrows strategy and delays for as long as it lives.
  ComputeTimer(PassListener& strategy, std::size_t segments, DelayInjector& delays)
      : strategy_(strategy), segments_(segments), delays_(delays) {}

  /// Begins step number `step`, from 0.
  void begin(std::size_t step);

  void begin_microbatch(const MicrobatchPass& pass) override {
    strategy_.begin_microbatch(pass);
  }
  void before_forward(UnitId unit) override {
    apart([&] { strategy_.before_forward(unit); });
  }
  void after_forward(UnitId unit) override {
    apart([&] { strategy_.after_forward(unit); });
  }
  void before_backward(UnitId unit) override {
    apart([&] { strategy_.before_backward(unit); });
  }
  void gradient_ready(SegmentId segment) override;
  void after_backward(UnitId unit) override {
    apart([&] { strategy_.after_backward(unit); });
  }

  /// Seconds of the last step, including injected delays.
  double seconds() const { return seconds_; }

 private:
  /// Leaves the time that the strategy takes out of the measurement.
  template <class Call>
  void apart(const Call& call) {
    const Stopwatch watch;
    call();
    seconds_apart_ += watch.seconds();
  }

  PassListener& strategy_;
  std::size_t segments_;
  DelayInjector& delays_;
  Stopwatch watch_;
  std::size_t step_ = 0, ready_ = 0;
  double seconds_ = 0, seconds_apart_ = 0;
};

}  // namespace convoy
