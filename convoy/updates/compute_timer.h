// SPDX-License-Identifier: Apache-2.0
//
// ComputeTimer: between network and strategy, it measures how long this rank computed.
//
// A step's wall time is the same on all ranks, since they wait for each other. What tells
// a slow rank from the others is the time from the step's begin to its last gradient,
// which nobody else can lengthen. Injected delays belong to it: they are slept after
// backward, before the last gradient goes to the strategy.

#pragma once

#include <cstddef>

#include "convoy/base/clock.h"
#include "convoy/params/pass_listener.h"
#include "convoy/updates/delay_injector.h"

namespace convoy {

class ComputeTimer final : public PassListener {
 public:
  /// Passes everything on to `strategy`, which hears of `segments` gradients per step.
  /// Borrows strategy and delays for as long as it lives.
  ComputeTimer(PassListener& strategy, std::size_t segments, DelayInjector& delays)
      : strategy_(strategy), segments_(segments), delays_(delays) {}

  /// A step begins, number `step` from 0.
  void begin(std::size_t step);

  void begin_microbatch(const MicrobatchPass& pass) override {
    strategy_.begin_microbatch(pass);
  }
  void before_forward(UnitId unit) override { strategy_.before_forward(unit); }
  void after_forward(UnitId unit) override { strategy_.after_forward(unit); }
  void before_backward(UnitId unit) override { strategy_.before_backward(unit); }
  void gradient_ready(SegmentId segment) override;

  /// Of the last step, what was slept included.
  double seconds() const { return seconds_; }

 private:
  PassListener& strategy_;
  std::size_t segments_;
  DelayInjector& delays_;
  Stopwatch watch_;
  std::size_t step_ = 0, ready_ = 0;
  double seconds_ = 0;
};

}  // namespace convoy
