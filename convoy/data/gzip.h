// SPDX-License-Identifier: Apache-2.0
//
// Gzip: decompression, with a distinct error for every kind of damage.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoy/system/mapped_file.h"

namespace convoy {

/// Whether the bytes begin like a gzip file. Names are ignored.
bool is_gzip(std::span<const std::byte> bytes);

/// Decompresses all members of a gzip file. Throws InputError of kind `data`, naming
/// `where`, if it is truncated, damaged, followed by something else, or longer than
/// `limit` when decompressed.
std::vector<std::byte> gunzip(std::span<const std::byte> packed, const std::string& where,
                              std::size_t limit);

/// Returns the first `count` decompressed bytes, or all if there are fewer; the rest is
/// not read. Throws as gunzip().
std::vector<std::byte> gunzip_beginning(std::span<const std::byte> packed,
                                        const std::string& where, std::size_t count);

/// Returns `bytes` themselves, or the decompressed bytes if they are gzip.
std::vector<std::byte> plain_bytes(std::vector<std::byte> bytes, const std::string& where,
                                   std::size_t limit);

/// How far a file is decompressed beyond its expected size, so that the message can give
/// its size.
inline constexpr std::size_t kUnpackedSlack = std::size_t{1} << 20;

/// Reads a file, decompressed if it is gzip, of at most `limit` bytes.
std::vector<std::byte> read_plain(const std::filesystem::path& path, std::size_t limit);

/// The same, but maps the file instead of reading it if it is not gzip.
class PlainFile {
 public:
  PlainFile(const std::filesystem::path& path, std::size_t limit);

  const std::string& path() const { return path_; }
  std::span<const std::uint8_t> bytes() const;

 private:
  std::string path_;
  MappedFile file_;
  std::vector<std::byte> unpacked_;  // empty unless the file is gzip
};

}  // namespace convoy
