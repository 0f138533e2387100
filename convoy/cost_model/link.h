// SPDX-License-Identifier: Apache-2.0
//
// Link: a network link that carries one message after the other.
//
//   const double arrives = link.send(ready, bytes);
//
// A message leaves when it is ready and the messages before it have left; it arrives one
// latency after its last byte has left. Several senders that share a link wait for each
// other.

#pragma once

#include <algorithm>
#include <cstdint>

namespace convoy {

struct LinkOptions {
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second; 0: no limit
};

class Link {
 public:
  Link() = default;
  explicit Link(const LinkOptions& options) : options_(options) {}

  /// Returns when a message that is ready at `ready` arrives. Messages leave in call
  /// order.
  double send(double ready, std::uint64_t bytes) {
    free_at_ = std::max(ready, free_at_) + seconds_of(bytes);
    bytes_ += bytes;
    return free_at_ + options_.latency;
  }

  /// Returns the time for `bytes` bytes, without latency.
  double seconds_of(std::uint64_t bytes) const {
    return options_.bandwidth > 0 ? static_cast<double>(bytes) / options_.bandwidth : 0;
  }

  /// Bytes carried so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  LinkOptions options_;
  double free_at_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Sends a message over two links, which carry it at the same time, each with its own
/// size.
inline double send_over(Link& from, std::uint64_t from_bytes, Link& to,
                        std::uint64_t to_bytes, double ready) {
  const double left = from.send(ready, from_bytes);
  return std::max(left, to.send(ready, to_bytes));
}

}  // namespace convoy
