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

/// The first `count` bytes, or all if there are fewer, of what a gzip file unpacks to;
/// the rest is not looked at. Throws as gunzip().
std::vector<std::byte> gunzip_beginning(std::span<const std::byte> packed,
                                        const std::string& where, std::size_t count);

/// `bytes` themselves, or what they unpack to if they are gzip.
std::vector<std::byte> plain_bytes(std::vector<std::byte> bytes, const std::string& where,
                                   std::size_t limit);

/// How much longer than it should be a file may be unpacked, so that its size can be
/// told.
inline constexpr std::size_t kUnpackedSlack = std::size_t{1} << 20;

/// A file's content, unpacked if it is gzip, to at most `limit` bytes.
std::vector<std::byte> read_plain(const std::filesystem::path& path, std::size_t limit);

/// The same, mapped instead of read if it is not gzip.
class PlainFile {
 public:
  PlainFile(const std::filesystem::path& path, std::size_t limit);

  const std::string& path() const { return path_; }
  std::span<const std::uint8_t> bytes() const;

 private:
  std::string path_;
  MappedFile file_;
  std::vector<std::byte> unpacked_;  // empty unless it is gzip
};

}  // namespace convoy
