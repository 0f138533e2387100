// SPDX-License-Identifier: Apache-2.0
//
// S3Options: timeouts, retries and callbacks of a client.

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
  /// An attempt below 1 KiB/s for that long is aborted and retried.
  double stall_seconds = 30;
  double operation_seconds = 1800;  // for one put or get, including retries
  int attempts = 10;                // with about a minute of pauses in total
  double first_pause = 0.5;  // seconds before the second attempt; doubles each time
  double longest_pause = 20;
  std::size_t part_bytes = 8 << 20;  // larger files are uploaded in parts of this size

  /// Called with the number of additional bytes of a file, on the client's thread.
  std::function<void(std::uint64_t)> on_sent{};

  /// Called with one line about why an exchange is retried, on the client's thread.
  std::function<void(const std::string&)> on_retry{};

  /// Ends the current operation within a second or two.
  std::stop_token cancel{};
};

/// The deadline of an operation.
class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  double seconds() const { return seconds_; }  // in total
  double left() const {
    return seconds_ - std::chrono::duration<double>(Steady::now() - start_).count();
  }

 private:
  double seconds_;
  Steady::time_point start_ = Steady::now();
};

}  // namespace convoy
