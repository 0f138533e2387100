// SPDX-License-Identifier: Apache-2.0
//
// Gzip: packed bytes to plain ones, with every damage told apart.

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

}  // namespace convoy
