// SPDX-License-Identifier: Apache-2.0
//
// Clocks: the machine's, and that of a simulation.

#pragma once

#include <chrono>

namespace convoy {

/// The machine's monotonic clock.
using Steady = std::chrono::steady_clock;

/// Converts the seconds of a setting to milliseconds.
inline std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(seconds * 1e3));
}

/// A source of time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double seconds() const = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  double seconds() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
};

inline const SteadyClock kSteadyClock;

/// A clock that advances only when it is set.
class VirtualClock final : public Clock {
 public:
  double seconds() const override { return seconds_; }
  /// Requires: not earlier than now.
  void advance_to(double seconds) { seconds_ = seconds > seconds_ ? seconds : seconds_; }

 private:
  double seconds_ = 0;
};

/// Measures the seconds since it was made or last restarted.
class Stopwatch {
 public:
  Stopwatch() : Stopwatch(kSteadyClock) {}
  /// Borrows the clock.
  explicit Stopwatch(const Clock& clock) : clock_(&clock), start_(clock.seconds()) {}

  double seconds() const { return clock_->seconds() - start_; }
  void restart() { start_ = clock_->seconds(); }

 private:
  const Clock* clock_;
  double start_;
};

}  // namespace convoy
