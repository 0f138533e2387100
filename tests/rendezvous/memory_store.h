// SPDX-License-Identifier: Apache-2.0
//
// MemoryStore: a KeyValueStore for ranks that are threads of one process.

#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "convoy/base/error.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

class MemoryStore final : public KeyValueStore {
 public:
  void set(const std::string& key, std::span<const std::byte> value) override {
    const std::lock_guard lock(mutex_);
    values_[key].assign(value.begin(), value.end());
    changed_.notify_all();
  }

  std::vector<std::byte> get(const std::string& key,
                             std::chrono::milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [&] { return values_.contains(key); })) {
      throw PeerError(kAnyRank, "nobody set " + key);
    }
    return values_[key];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<std::byte>> values_;
};

}  // namespace convoy
