// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/shard_cache.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/sha256.h"
#include "convoy/data/tar/servers.h"
#include "convoy/s3/source_file.h"
#include "convoy/system/file.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

// Opening waits for servers and disks more than it computes.
constexpr std::size_t kOpeningThreads = 16;
constexpr std::size_t kPartBytes = std::size_t{8} << 20;

class RemoteShard final : public Shard {
 public:
  RemoteShard(std::string address, std::shared_ptr<Servers> servers)
      : address_(std::move(address)),
        name_(without_password(address_)),
        servers_(std::move(servers)),
        mark_(servers_->mark(address_)) {}

  const std::string& name() const override { return name_; }
  const ShardMark& mark() const override { return mark_; }
  std::size_t window() const override { return copy_.empty() ? kPartBytes : 4096; }

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (read_copy(offset, bytes)) return;
    servers_->read(address_, mark_, offset, bytes);
  }

  /// The name of its copy in the cache.
  std::string copy_name() const {
    const std::string all = address_ + '\n' + mark_.version;
    return sha256_hex(std::as_bytes(std::span(all))) + ".tar";
  }

  /// Names a complete copy. Before other threads use the shard.
  void use_copy(const fs::path& copy) {
    copy_ = copy;
    std::error_code ignored;  // when it was used last decides only what is removed first
    fs::last_write_time(copy, fs::file_time_type::clock::now(), ignored);
  }

  void download(const fs::path& copy) const {
    AtomicFile file(copy);
    std::vector<std::byte> part;
    for (std::uint64_t at = 0; at < mark_.bytes; at += part.size()) {
      part.resize(std::min<std::uint64_t>(kPartBytes, mark_.bytes - at));
      servers_->read(address_, mark_, at, part);
      file.write(part);
    }
    file.commit();
  }

 private:
  /// A copy that another process has removed is not an error.
  bool read_copy(std::uint64_t offset, std::span<std::byte> bytes) const {
    if (copy_.empty()) return false;
    try {
      const SourceFile file(copy_);
      if (file.size() != mark_.bytes) return false;
      file.read(offset, bytes);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  std::string address_, name_;
  std::shared_ptr<Servers> servers_;
  ShardMark mark_;
  fs::path copy_{};  // empty: none
};

using RemoteShards = std::vector<RemoteShard*>;

/// Waits while another process fills the folder.
Descriptor wait_for_lock(const fs::path& folder) {
  for (;;) {
    Descriptor lock = lock_folder(folder, LockMode::exclusive);
    if (lock) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// The files of a cache's folder, and which of them this dataset does not need.
class CacheRoom {
 public:
  CacheRoom(const ShardCacheOptions& options, const std::set<std::string>& needed)
      : most_(options.most_bytes) {
    for (const fs::directory_entry& entry : fs::directory_iterator(options.folder)) {
      std::error_code ignored;
      const std::uint64_t bytes = entry.file_size(ignored);
      if (ignored) continue;
      used_ += bytes;
      if (needed.contains(entry.path().filename())) continue;
      unneeded_.insert({entry.last_write_time(ignored), {entry.path(), bytes}});
    }
  }

  /// Whether so many bytes fit now, after what is not needed was removed.
  bool make(std::uint64_t bytes) {
    if (bytes > most_) return false;
    while (used_ + bytes > most_ && !unneeded_.empty()) {
      const auto oldest = unneeded_.begin();
      std::error_code ignored;
      if (fs::remove(oldest->second.first, ignored)) used_ -= oldest->second.second;
      unneeded_.erase(oldest);
    }
    if (used_ + bytes > most_) return false;
    used_ += bytes;
    return true;
  }

 private:
  std::uint64_t most_, used_ = 0;
  std::multimap<fs::file_time_type, std::pair<fs::path, std::uint64_t>> unneeded_;
};

/// Downloads what fits, and tells the shards about their copies.
void fill_cache(const RemoteShards& shards, const ShardCacheOptions& options) {
  make_folders(options.folder);
  const Descriptor lock = wait_for_lock(options.folder);
  std::set<std::string> needed;
  for (const RemoteShard* shard : shards) needed.insert(shard->copy_name());
  CacheRoom room(options, needed);
  RemoteShards missing;
  for (RemoteShard* shard : shards) {
    const fs::path copy = options.folder / shard->copy_name();
    std::error_code absent;
    if (fs::file_size(copy, absent) == shard->mark().bytes && !absent) {
      shard->use_copy(copy);
    } else if (room.make(shard->mark().bytes)) {
      missing.push_back(shard);
    }
  }
  run_in_parallel(missing.size(), kOpeningThreads, [&](std::size_t i, std::size_t) {
    const fs::path copy = options.folder / missing[i]->copy_name();
    missing[i]->download(copy);
    missing[i]->use_copy(copy);
  });
}

}  // namespace

std::vector<std::shared_ptr<const Shard>> open_shards(
    const std::vector<std::string>& places, const ShardCacheOptions& options) {
  const auto servers = std::make_shared<Servers>();
  std::vector<std::shared_ptr<const Shard>> shards(places.size());
  std::vector<RemoteShard*> by_place(places.size());
  run_in_parallel(places.size(), kOpeningThreads, [&](std::size_t i, std::size_t) {
    if (!is_remote(places[i])) {
      shards[i] = open_local_shard(places[i]);
      return;
    }
    const auto shard = std::make_shared<RemoteShard>(places[i], servers);
    by_place[i] = shard.get();
    shards[i] = shard;
  });
  std::erase(by_place, nullptr);
  if (!by_place.empty() && !options.folder.empty()) fill_cache(by_place, options);
  return shards;
}

}  // namespace convoy
