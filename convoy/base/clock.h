// SPDX-License-Identifier: Apache-2.0
//
// Time, as the machine counts it or as a simulation does.

#pragma once

#include <chrono>

namespace convoy {

/// The machine's clock that never jumps.
using Steady = std::chrono::steady_clock;

/// As a setting has it, for those who wait.
inline std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(seconds * 1e3));
}

/// Where time comes from.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double seconds() const = 0;
};

/// The machine's own, which never goes back.
class SteadyClock final : public Clock {
 public:
  double seconds() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
};

inline const SteadyClock kSteadyClock;

/// Goes on when it is told to.
class VirtualClock final : public Clock {
 public:
  double seconds() const override { return seconds_; }
  /// Never back.
  void advance_to(double seconds) { seconds_ = seconds > seconds_ ? seconds : seconds_; }

 private:
  double seconds_ = 0;
};

/// Seconds since it was made or last restarted.
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
