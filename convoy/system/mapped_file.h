// SPDX-License-Identifier: Apache-2.0
//
// MappedFile: a file's content as read-only memory, without reading it first.
//
// Pages are read from disk when they are accessed and belong to the page cache: processes
// that map the same file share them, and the system can reclaim them. If a file is
// truncated while it is mapped, the next access ends the process; convoy never truncates
// files, it replaces them.

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace convoy {

class MappedFile {
 public:
  /// Throws InputError of kind `storage` if the file cannot be read, or is not a file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace convoy
