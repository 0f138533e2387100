// SPDX-License-Identifier: Apache-2.0
//
// Gzip: packed bytes to plain ones, with every damage told apart.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoy/system/mapped_file.h"

namespace convoy {

/// Whether the bytes begin as a gzip file does. Names are not looked at.
bool is_gzip(std::span<const std::byte> bytes);

/// Unpacks all members of a gzip file. Throws InputError of kind `data`, naming `where`,
/// if it is cut short, damaged, followed by something else, or unpacks to more than
/// `limit`.
std::vector<std::byte> gunzip(std::span<const std::byte> packed, const std::string& where,
                              std::size_t limit);

/// `bytes` themselves, or what they unpack to if they are gzip.
std::vector<std::byte> plain_bytes(std::vector<std::byte> bytes, const std::string& where,
                                   std::size_t limit);

/// A file's content, unpacked if it is gzip.
std::vector<std::byte> read_plain(const std::filesystem::path& path);

/// The same, mapped instead of read if it is not gzip.
class PlainFile {
 public:
  explicit PlainFile(const std::filesystem::path& path);

  const std::string& path() const { return path_; }
  std::span<const std::uint8_t> bytes() const;

 private:
  std::string path_;
  MappedFile file_;
  std::vector<std::byte> unpacked_;  // empty unless it is gzip
};

}  // namespace convoy
