// SPDX-License-Identifier: Apache-2.0
//
// Servers: parts of files at s3://, https:// and http:// addresses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/tar/shard.h"
#include "convoy/http/connection.h"
#include "convoy/s3/client.h"

namespace convoy {

/// Whether an address names a server.
bool is_remote(std::string_view address);

/// Objects of which each is used by one thread at a time, and then again.
template <class Thing>
class IdlePool {
 public:
  /// Returns use(thing), with an idle one or else make(). If it throws, the thing is not
  /// used again.
  template <class Make, class Use>
  auto with(const Make& make, const Use& use) {
    std::unique_ptr<Thing> thing = take();
    if (!thing) thing = make();
    auto result = use(*thing);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
    return result;
  }

 private:
  std::unique_ptr<Thing> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Thing> thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> idle_;
};

/// Any number of threads may call the methods; each has a connection of its own, which
/// stays open. All throw InputError of kind `storage`; of kind `settings` if s3:// has no
/// credentials (s3/access.h).
class Servers {
 public:
  /// What a server says about a file.
  ShardMark mark(const std::string& address);

  /// Fills `bytes` from `offset` on. Throws also if the file is no longer what the mark
  /// says. Requires: that range is within the file.
  void read(const std::string& address, const ShardMark& mark, std::uint64_t offset,
            std::span<std::byte> bytes);

 private:
  IdlePool<S3Client> s3_;
  IdlePool<HttpConnection> http_;
};

}  // namespace convoy
