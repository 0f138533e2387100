// SPDX-License-Identifier: Apache-2.0

#include "convoy/pack/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

fs::path partial_folder(const fs::path& file) {
  fs::path folder = file;
  folder += ".partial";
  return folder;
}

Descriptor open_to_write(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) throw storage_error(path, "write this file", errno);
  return file;
}

/// Cuts a file there, and lets the next write begin there.
void cut(const Descriptor& file, const fs::path& path, std::uint64_t length) {
  const auto end = static_cast<off_t>(length);
  if (::ftruncate(file.get(), end) != 0 || ::lseek(file.get(), end, SEEK_SET) != end) {
    throw storage_error(path, "write this file", errno);
  }
}

void append(const Descriptor& file, const fs::path& path,
            std::span<const std::byte> bytes) {
  if (const int error = write_all(file.get(), bytes); error != 0) {
    throw storage_error(path, "write this file", error);
  }
}

void flush(const Descriptor& file, const fs::path& path) {
  if (::fsync(file.get()) != 0) throw storage_error(path, "flush this file", errno);
}

InputError taken_name(const fs::path& file) {
  return {InputKind::storage,
          {.where = file,
           .found = "a file of that name",
           .expected = "a name that is free",
           .hint = "remove it, or name another"}};
}

/// Gives a file a name that is free.
void rename_to_free(const fs::path& file, const fs::path& name) {
  int failed =
      ::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) {
    // NFS, for example, cannot look and rename at once.
    expect_free_name(name);
    failed = ::rename(file.c_str(), name.c_str());
  }
  if (failed == 0) return;
  if (errno == EEXIST) throw taken_name(name);
  throw storage_error(name, "give a packed file this name", errno);
}

bool has_text(const fs::path& path, const std::string& text) {
  std::error_code missing;
  return fs::exists(path, missing) && read_text(path) == text;
}

}  // namespace

void expect_free_name(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(file, ignored))) throw taken_name(file);
}

PartialFile::PartialFile(fs::path file, const std::string& job)
    : file_(std::move(file)), folder_(partial_folder(file_)), end_(kPackedHeaderBytes) {
  make_folders(folder_);
  lock_ = lock_folder(folder_, LockMode::exclusive);
  if (!lock_) {
    throw InputError(InputKind::storage, {.where = folder_,
                                          .found = "another process that packs into it",
                                          .expected = "one process per file",
                                          .hint = "wait for it, or name another file"});
  }
  images_ = open_to_write(folder_ / "images");
  journal_ = open_to_write(folder_ / "records");
  resume(job);
  cut(journal_, folder_ / "records", records_.size() * sizeof(PackedRecord));
  cut(images_, folder_ / "images", end_);
  write_atomically(folder_ / "job", job);
}

/// Takes over the records whose images are on disk.
void PartialFile::resume(const std::string& job) {
  if (!has_text(folder_ / "job", job)) return;
  const std::vector<std::byte> journal = read_bytes(folder_ / "records");
  const std::uint64_t written = fs::file_size(folder_ / "images");
  records_.resize(journal.size() / sizeof(PackedRecord));
  std::memcpy(records_.data(), journal.data(), records_.size() * sizeof(PackedRecord));
  std::size_t sound = 0;
  while (sound < records_.size() && records_[sound].offset == end_ &&
         records_[sound].bytes <= written - std::min(end_, written)) {
    end_ += records_[sound++].bytes;
  }
  records_.resize(sound);
}

void PartialFile::add(std::span<const std::vector<std::byte>> images,
                      std::span<const std::int32_t> labels) {
  const std::size_t before = records_.size();
  for (std::size_t i = 0; i < images.size(); ++i) {
    append(images_, folder_ / "images", images[i]);
    records_.push_back({end_, packed_checksum(images[i]),
                        static_cast<std::uint32_t>(images[i].size()), labels[i]});
    end_ += images[i].size();
  }
  append(journal_, folder_ / "records",
         std::as_bytes(std::span(records_).subspan(before)));
}

void PartialFile::finish(std::size_t train, const nlohmann::ordered_json& description) {
  std::vector<PackedRecord> kept, of_val;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].bytes > 0) (i < train ? kept : of_val).push_back(records_[i]);
  }
  const PackedEnds ends = packed_ends(end_, kept, of_val, description);
  const fs::path images = folder_ / "images";
  append(images_, images, std::as_bytes(std::span(ends.tail)));
  if (::lseek(images_.get(), 0, SEEK_SET) != 0) {
    throw storage_error(images, "write this file", errno);
  }
  append(images_, images, std::as_bytes(std::span(ends.header)));
  flush(images_, images);
  verify_packed(images);
  rename_to_free(images, file_);
  sync_folder(folder_of(file_));
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace convoy
