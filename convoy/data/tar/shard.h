// SPDX-License-Identifier: Apache-2.0
//
// Shard: the bytes of one tar file, on disk or on a server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace convoy {

/// What a shard is known by: it is another one if one of these is another.
struct ShardMark {
  std::uint64_t bytes = 0;
  std::string version{};  // time of the last change, or what a server calls the content

  bool operator==(const ShardMark&) const = default;
};

/// Any number of threads may call the methods.
class Shard {
 public:
  virtual ~Shard() = default;

  /// Its path or address, without a password.
  virtual const std::string& name() const = 0;

  virtual const ShardMark& mark() const = 0;

  /// How many bytes are best read at once while it is read from beginning to end.
  virtual std::size_t window() const = 0;

  /// Fills `bytes` from `offset` on. Throws InputError of kind `storage`, also if the
  /// shard is no longer what mark() says. Requires: that range is within the shard.
  virtual void read(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Throws InputError of kind `storage` unless there is such a file.
std::shared_ptr<const Shard> open_local_shard(const std::filesystem::path& path);

}  // namespace convoy
