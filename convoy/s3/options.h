// SPDX-License-Identifier: Apache-2.0
//
// S3Options: how patient a client is, and who can call it back.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "convoy/base/clock.h"

namespace convoy {

struct S3Options {
  double connect_seconds = 10;
  double stall_seconds = 30;        // below 1 KiB/s for so long: given up, tried again
  double operation_seconds = 1800;  // for one put or get, all attempts together
  int attempts = 10;                // about a minute of pauses
  double first_pause = 0.5;  // seconds before the second attempt; doubles each time
  double longest_pause = 20;
  std::size_t part_bytes = 8 << 20;  // a file above goes up in parts of this size

  /// Hears how many more bytes of a file have arrived. From the client's thread.
  std::function<void(std::uint64_t)> on_sent{};

  /// Hears in one line why an exchange is tried again. From the client's thread.
  std::function<void(const std::string&)> on_retry{};

  /// Ends whatever goes on within a second or two.
  std::stop_token cancel{};
};

/// A point in time that an operation must not outlast.
class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  double seconds() const { return seconds_; }  // in all
  double left() const {
    return seconds_ - std::chrono::duration<double>(Steady::now() - start_).count();
  }

 private:
  double seconds_;
  Steady::time_point start_ = Steady::now();
};

}  // namespace convoy
