// SPDX-License-Identifier: Apache-2.0
//
// KeyValueStore: where the ranks of a job publish what the others need to connect.
//
// Values are small (addresses, names), written once and read when a Comm connects, never
// during a step. All ranks of a job, and no other processes, share one store.

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

  /// Waits for the key to be set, and returns its value. Throws PeerError if it is not
  /// within `timeout`.
  virtual std::vector<std::byte> get(const std::string& key,
                                     std::chrono::milliseconds timeout) = 0;
};

}  // namespace convoy
