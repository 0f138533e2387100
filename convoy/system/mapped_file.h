// SPDX-License-Identifier: Apache-2.0
//
// MappedFile: a file's content as read-only memory, without reading it first.
//
// Pages come from disk as they are touched and belong to the system's cache: processes
// that map the same file share them, and memory that runs short takes them back. A file
// that is shortened while it is mapped ends the process at the next access; convoy never
// shortens files, it replaces them.

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
