// SPDX-License-Identifier: Apache-2.0
//
// KeyValueStore: where the ranks of a job leave what others need to find them.
//
// Small things only (addresses, names), written once and read when a Comm is connected,
// never in a step. All ranks of a job, and nobody else, share one.

#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace convoy {

class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  virtual void set(const std::string& key, std::span<const std::byte> value) = 0;

  /// The key's value, as soon as it is set.
  /// Throws PeerError if it is not within `timeout`.
  virtual std::vector<std::byte> get(const std::string& key,
                                     std::chrono::milliseconds timeout) = 0;
};

}  // namespace convoy
