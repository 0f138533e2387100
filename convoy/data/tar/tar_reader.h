// SPDX-License-Identifier: Apache-2.0
//
// TarReader: the members of a tar, one after the other, without reading what is in them.
//
// Read are ustar, GNU's long names, and pax headers with path and size. Every header's
// checksum is verified. A member that is neither a file nor a folder, a sparse file, and
// a tar without the block of zeros at its end, or with anything but at most 1 MiB of
// zeros from there on, are refused.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/data/tar/shard.h"

namespace convoy {

struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  // of its content in the tar
  std::uint64_t bytes = 0;
};

/// The InputError of kind `data` about a member of a shard; an empty member: about the
/// shard itself.
InputError bad_member(const Shard& shard, const std::string& member,
                      const std::string& found, const std::string& expected,
                      const std::string& hint = "make the shard again");

class TarReader {
 public:
  /// Borrows the shard.
  explicit TarReader(const Shard& shard) : shard_(shard) {}

  /// The next member that is a file; nothing at the end. Throws InputError of kind
  /// `data`, naming shard and member, if the tar is damaged, cut off, or of a kind that
  /// is not read.
  std::optional<TarMember> next();

  /// The content of a member that next() returned. Requires: at most 64 KiB.
  std::string content(const TarMember& member);

 private:
  /// What the headers before a member's own say about it.
  struct Extension {
    std::string name{};
    std::optional<std::uint64_t> bytes{};
  };

  struct Header;

  std::span<const std::byte> bytes_at(std::uint64_t offset, std::size_t count);
  std::optional<Header> read_header();
  void check_end();
  void read_extension(const Header& header, Extension& extension);
  std::string extension_text(const Header& header);
  void read_pax(const std::string& records, Extension& extension);
  bool is_file(const Header& header, const std::string& name) const;
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const;

  const Shard& shard_;
  std::uint64_t at_ = 0;  // where the next header is
  std::string last_{};    // the name of the last member, for messages
  std::uint64_t window_begin_ = 0;
  std::vector<std::byte> window_{};
};

}  // namespace convoy
