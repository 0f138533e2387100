// SPDX-License-Identifier: Apache-2.0
//
// SourceFile: a file held open for an upload. It can be read after it was removed from
// its folder, so pruning does not disturb an upload.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "convoy/system/descriptor.h"
#include "convoy/system/file_mark.h"

namespace convoy {

class SourceFile {
 public:
  /// Throws a storage error, as read() does.
  explicit SourceFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `bytes` from `offset` on. Requires: that range is within the file.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Whether it is the marked file. Throws a storage error.
bool matches(const FileMark& mark, const SourceFile& file);

}  // namespace convoy
