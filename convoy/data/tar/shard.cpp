// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/shard.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/s3/source_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

ShardMark mark_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw storage_error(path, "read this shard", errno);
  }
  return {static_cast<std::uint64_t>(status.st_size),
          fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)};
}

/// The file is opened for each read: there may be more shards than a process may have
/// open files.
class LocalShard final : public Shard {
 public:
  explicit LocalShard(const fs::path& path) : name_(path), mark_(mark_of(path)) {}

  const std::string& name() const override { return name_; }
  const ShardMark& mark() const override { return mark_; }
  // A label and the headers around it; images are not read.
  std::size_t window() const override { return 4096; }

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    const SourceFile file(name_);
    if (file.size() != mark_.bytes) {
      throw InputError(
          InputKind::storage,
          {.where = name_,
           .found = with_commas(file.size()) + " bytes",
           .expected = with_commas(mark_.bytes) + " bytes, as when this shard was opened",
           .hint = "shards must not change while they are used"});
    }
    file.read(offset, bytes);
  }

 private:
  std::string name_;
  ShardMark mark_;
};

}  // namespace

std::shared_ptr<const Shard> open_local_shard(const fs::path& path) {
  return std::make_shared<LocalShard>(path);
}

}  // namespace convoy
