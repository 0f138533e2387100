// SPDX-License-Identifier: Apache-2.0
//
// ComputeTimer: stands between network and strategy, and knows how long this rank worked.
//
// A step's wall time is the same on all ranks, since they wait for each other. What tells
// a slow rank from its victims is the time from the step's begin to its last gradient,
// which nobody else can stretch. Delays that are injected belong there too: they are
// slept after backward, before the last gradient goes to the strategy.

#pragma once

#include <cstddef>

#include "convoy/base/clock.h"
#include "convoy/params/pass_listener.h"
#include "convoy/updates/delay.h"

namespace convoy {

class ComputeTimer final : public PassListener {
 public:
  /// Passes everything on to `strategy`, which hears of `segments` gradients a step.
  /// Borrows the strategy for as long as it lives.
  ComputeTimer(PassListener& strategy, std::size_t segments, const Delay& delay);

  /// A step begins, number `step` from 0.
  void begin(std::size_t step);

  void before_forward(UnitId unit) override { strategy_.before_forward(unit); }
  void after_forward(UnitId unit) override { strategy_.after_forward(unit); }
  void before_backward(UnitId unit) override { strategy_.before_backward(unit); }
  void gradient_ready(SegmentId segment) override;

  /// Of the last step, what was slept included.
  double seconds() const { return seconds_; }
  /// Slept in all steps, by the clock: a little more than was asked for.
  double seconds_slept() const { return all_.slept; }
  double seconds_asked_for() const { return all_.asked_for; }
  /// The same of the last step.
  double last_seconds_slept() const { return last_.slept; }
  double last_seconds_asked_for() const { return last_.asked_for; }

 private:
  struct Sleep {
    double asked_for = 0, slept = 0;  // seconds
  };

  Sleep sleep() const;

  PassListener& strategy_;
  std::size_t segments_;
  Delay delay_;
  Stopwatch watch_;
  std::size_t step_ = 0, ready_ = 0;
  double seconds_ = 0;
  Sleep last_, all_;
};

}  // namespace convoy
