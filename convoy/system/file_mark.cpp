// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/file_mark.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/sha256.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t kBlock = 1 << 20;

bool is_sha256(const std::string& text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

json range_to_json(const RangeMark& range) {
  return {{"bytes", range.bytes}, {"sha256", range.sha256}};
}

RangeMark range_from_json(const JsonObject& entry, std::uint64_t most) {
  RangeMark range{entry.whole("bytes", 0, most), entry.text("sha256")};
  if (!is_sha256(range.sha256)) entry.refuse("sha256", "64 hexadecimal digits");
  return range;
}

std::string digest_of(std::uint64_t begin, std::uint64_t bytes, const ReadAt& read) {
  Sha256 digest;
  std::vector<std::byte> block;
  for (std::uint64_t done = 0; done < bytes; done += block.size()) {
    block.resize(std::min(kBlock, bytes - done));
    read(begin + done, block);
    digest.add(block);
  }
  return digest.hex();
}

}  // namespace

std::uint64_t FileMark::bytes() const {
  std::uint64_t sum = 0;
  for (const RangeMark& range : ranges) sum += range.bytes;
  return sum;
}

FileMark mark_of(std::span<const std::byte> content) {
  return {{{content.size(), sha256_hex(content)}}};
}

json to_json(const FileMark& mark) {
  if (mark.ranges.size() == 1) return range_to_json(mark.ranges.front());
  json ranges = json::array();
  for (const RangeMark& range : mark.ranges) ranges.push_back(range_to_json(range));
  return {{"bytes", mark.bytes()}, {"ranges", std::move(ranges)}};
}

FileMark file_mark_from_json(const JsonObject& entry, const JsonSource& source) {
  std::uint64_t left = entry.whole("bytes");
  if (!entry.contains("ranges")) return {{range_from_json(entry, left)}};
  const json& ranges = entry.field("ranges");
  if (!ranges.is_array()) entry.refuse("ranges", "a list");
  FileMark mark;
  for (const json& range : ranges) {
    mark.ranges.push_back(range_from_json(JsonObject(range, source), left));
    left -= mark.ranges.back().bytes;
  }
  if (left > 0 || mark.ranges.empty()) entry.refuse("ranges", "ranges of all bytes");
  return mark;
}

bool matches(const FileMark& mark, std::uint64_t size, const ReadAt& read) {
  if (size != mark.bytes()) return false;
  std::uint64_t begin = 0;
  return std::ranges::all_of(mark.ranges, [&](const RangeMark& range) {
    const bool same = digest_of(begin, range.bytes, read) == range.sha256;
    begin += range.bytes;
    return same;
  });
}

}  // namespace convoy
