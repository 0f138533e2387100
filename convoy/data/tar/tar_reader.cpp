// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/tar_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"

namespace convoy {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMostText = 1 << 16;  // of a long name, pax records, or a label
constexpr int kMostExtensions = 8;          // headers before that of a member
constexpr std::uint64_t kMostPadding = 1 << 20;  // zeros at the end of a tar

/// A field of a header, up to its first zero byte.
std::string_view field(std::string_view block, std::size_t begin, std::size_t size) {
  const std::string_view all = block.substr(begin, size);
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint64_t> number_of_digits(std::string_view digits, int base = 10) {
  std::uint64_t value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

/// Octal digits between blanks, or eight bytes of binary after a byte of 0x80 (GNU).
std::optional<std::uint64_t> number_of(std::string_view all) {
  if (all.front() == '\x80') {
    std::uint64_t value = 0;
    for (const char c : all.substr(1)) {
      if (value >> 56 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  const std::size_t first = all.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  return number_of_digits(
      all.substr(first, all.find_first_of(std::string_view(" \0", 2), first) - first), 8);
}

/// The sum of all bytes, those of the checksum itself taken as blanks.
std::uint64_t checksum(std::string_view block) {
  constexpr std::size_t kPlace = 148, kSize = 8;
  std::uint64_t sum = kSize * ' ';
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (i < kPlace || i >= kPlace + kSize) sum += static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::string name_of(std::string_view block) {
  const std::string name(field(block, 0, 100));
  // GNU's own headers have other fields in the place of the prefix.
  const bool has_prefix = block.substr(257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = has_prefix ? field(block, 345, 155) : "";
  return prefix.empty() ? name : std::string(prefix) + '/' + name;
}

std::uint64_t in_blocks(std::uint64_t bytes) {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

}  // namespace

InputError bad_member(const Shard& shard, const std::string& member,
                      const std::string& found, const std::string& expected,
                      const std::string& hint) {
  return bad_data(shard.name() + (member.empty() ? "" : ": " + printable(member)), found,
                  expected, hint);
}

struct TarReader::Header {
  std::string name;
  char type = '0';
  std::uint64_t bytes = 0;
};

void TarReader::refuse(const std::string& found, const std::string& expected) const {
  throw bad_member(shard_, "",
                   fmt::format("{} at byte {}{}", found, with_commas(at_),
                               last_.empty() ? "" : ", after " + printable(last_)),
                   expected);
}

/// The window is read anew where it does not have the bytes.
std::span<const std::byte> TarReader::bytes_at(std::uint64_t offset, std::size_t count) {
  const std::uint64_t all = shard_.mark().bytes;
  if (offset > all || count > all - offset) {
    refuse("the end of the file", "a whole tar, with blocks of zeros at its end");
  }
  if (offset < window_begin_ || offset + count > window_begin_ + window_.size()) {
    window_.resize(
        std::min<std::uint64_t>(std::max(shard_.window(), count), all - offset));
    window_begin_ = offset;
    shard_.read(offset, window_);
  }
  return std::span(window_).subspan(offset - window_begin_, count);
}

/// Only zeros may follow: a header that was zeroed would shorten the tar unnoticed.
void TarReader::check_end() {
  const std::uint64_t all = shard_.mark().bytes, begin = at_;
  const std::uint64_t end = std::min(all, begin + kMostPadding + 1);
  while (at_ < end) {
    const auto piece = bytes_at(at_, std::min<std::uint64_t>(shard_.window(), end - at_));
    const auto other =
        std::ranges::find_if(piece, [](std::byte byte) { return byte != std::byte{0}; });
    at_ += static_cast<std::uint64_t>(other - piece.begin());
    if (other != piece.end()) {
      refuse("blocks of zeros, and more behind them", "zeros up to the end of a tar");
    }
  }
  at_ = begin;
  if (all - begin <= kMostPadding) return;
  refuse(fmt::format("more than {} zeros", with_commas(kMostPadding)),
         "no more than that at the end of a tar");
}

/// Nothing: the tar ends here.
std::optional<TarReader::Header> TarReader::read_header() {
  const std::span<const std::byte> bytes = bytes_at(at_, kBlock);
  const std::string_view block(reinterpret_cast<const char*>(bytes.data()), kBlock);
  if (block.find_first_not_of('\0') == std::string_view::npos) {
    check_end();
    return std::nullopt;
  }
  if (number_of(block.substr(148, 8)) != checksum(block)) {
    refuse("no header of a member (its checksum is wrong)", "an undamaged tar");
  }
  const auto size = number_of(block.substr(124, 12));
  if (!size) refuse("a header without the member's size", "an undamaged tar");
  return Header{.name = name_of(block), .type = block[156], .bytes = *size};
}

std::string TarReader::extension_text(const Header& header) {
  if (header.bytes > kMostText) {
    refuse(
        fmt::format("a long name or pax header of {} bytes", with_commas(header.bytes)),
        fmt::format("at most {} bytes", with_commas(kMostText)));
  }
  return content({header.name, at_ + kBlock, header.bytes});
}

/// Records are "LENGTH KEY=VALUE\n", and the length counts all of that.
void TarReader::read_pax(const std::string& records, Extension& extension) {
  std::string_view rest = records;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc() || length > rest.size() || length < digits + 2 ||
        rest[digits] != ' ' || rest[length - 1] != '\n') {
      refuse("damaged pax records", "an undamaged tar");
    }
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? ""
                                                             : record.substr(equals + 1));
    if (key.starts_with("GNU.sparse")) refuse("a sparse file", "plain files");
    if (key == "path") extension.name = value;
    if (key == "size") {
      extension.bytes = number_of_digits(value);
      if (!extension.bytes || *extension.bytes > shard_.mark().bytes) {
        refuse("a pax size of " + printable(value), "the size of a member of this tar");
      }
    }
    rest.remove_prefix(length);
  }
}

void TarReader::read_extension(const Header& header, Extension& extension) {
  const std::string text = extension_text(header);
  if (header.type == 'x') read_pax(text, extension);
  if (header.type == 'L') extension.name = text.substr(0, text.find('\0'));
  // 'g' is about the whole tar, 'K' about the target of a link: neither is needed.
}

bool TarReader::is_file(const Header& header, const std::string& name) const {
  switch (header.type) {
    case '0':
    case '\0':
    case '7':
      return !name.ends_with('/');
    case '5':
      return false;
    default:
      throw bad_member(shard_, name,
                       fmt::format("a member of type {}", printable({&header.type, 1})),
                       "files and folders",
                       "make the shard without links (tar --hard-dereference -h)");
  }
}

std::optional<TarMember> TarReader::next() {
  Extension extension;
  int extensions = 0;
  while (const std::optional<Header> header = read_header()) {
    if (std::string_view("xgLK").find(header->type) != std::string_view::npos) {
      if (++extensions > kMostExtensions) {
        refuse("many headers in a row without a member", "an undamaged tar");
      }
      read_extension(*header, extension);
      at_ += kBlock + in_blocks(header->bytes);
      continue;
    }
    TarMember member{extension.name.empty() ? header->name : extension.name, at_ + kBlock,
                     extension.bytes.value_or(header->bytes)};
    const std::uint64_t all = shard_.mark().bytes;
    if (member.bytes > all || member.offset > all - member.bytes) {
      throw bad_member(shard_, member.name,
                       fmt::format("the end of the file, within {} bytes of content",
                                   with_commas(member.bytes)),
                       "a whole tar");
    }
    const bool wanted = is_file(*header, member.name);
    at_ = member.offset + in_blocks(member.bytes);
    last_ = member.name;
    if (wanted) return member;
    extension = {};
    extensions = 0;
  }
  return std::nullopt;
}

std::string TarReader::content(const TarMember& member) {
  check(member.bytes <= kMostText, "a member is short");
  const auto bytes = bytes_at(member.offset, static_cast<std::size_t>(member.bytes));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace convoy
