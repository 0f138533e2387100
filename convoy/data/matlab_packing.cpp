// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/matlab_packing.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"

namespace convoy {
namespace {

constexpr std::size_t kHeader = 128;
constexpr std::size_t kTag = 8;
constexpr std::uint32_t kPacked = 15;

/// Whether a zlib stream is complete and has the checksum at its end.
bool unpacks(std::span<const std::uint8_t> packed) {
  z_stream stream{};
  check(inflateInit(&stream) == Z_OK, "zlib starts");
  std::vector<std::uint8_t> discarded(1 << 18);
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());  // 32 bits, as in the tag
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = discarded.data();
    stream.avail_out = static_cast<uInt>(discarded.size());
    result = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END;
}

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | std::uint32_t{bytes[3]} << 24;
}

[[noreturn]] void refuse_packing(const std::string& where, const std::string& found) {
  throw bad_data(where, found, "a complete MATLAB 5 file, little-endian",
                 "download the file again");
}

}  // namespace

void check_matlab_packing(std::span<const std::uint8_t> file, const std::string& where) {
  if (file.size() < kHeader) refuse_packing(where, "a truncated header");
  if (file[126] != 'I' || file[127] != 'M') refuse_packing(where, "another byte order");
  for (auto rest = file.subspan(kHeader); !rest.empty();) {
    const std::string at = with_commas(file.size() - rest.size());
    if (rest.size() < kTag) refuse_packing(where, "a truncated variable at byte " + at);
    const std::uint32_t type = little_endian(rest);
    const std::size_t size = little_endian(rest.subspan(4));
    rest = rest.subspan(kTag);
    if (rest.size() < size) refuse_packing(where, "a truncated variable at byte " + at);
    if (type == kPacked && !unpacks(rest.first(size))) {
      refuse_packing(where, "a damaged variable after byte " + at);
    }
    rest = rest.subspan(size);
  }
}

}  // namespace convoy
