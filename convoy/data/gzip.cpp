// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
constexpr const char* kExpected = "a complete gzip file";
constexpr const char* kHint = "download the file again";

[[noreturn]] void refuse(const std::string& where, const std::string& found) {
  throw InputError(
      InputKind::data,
      {.where = where, .found = found, .expected = kExpected, .hint = kHint});
}

class Inflater {
 public:
  Inflater(std::span<const std::byte> packed, const std::string& where, std::size_t limit)
      : rest_(packed), where_(where), limit_(limit) {
    check(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib starts");  // 16: gzip only
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Decompresses to the end, or until there are `enough` bytes.
  std::vector<std::byte> run(std::size_t enough = kNoLimit) {
    while (!rest_.empty() && plain_.size() < enough) {
      if (!is_gzip(rest_)) refuse(where_, with_commas(rest_.size()) + " bytes too many");
      inflateReset(&stream_);
      while (plain_.size() < enough && !step()) {
      }
    }
    return std::move(plain_);
  }

 private:
  /// Decompresses one block. Returns true at the end of a member.
  bool step() {
    std::array<std::byte, 1 << 16> block;
    // zlib counts its input with 32 bits.
    const auto offered = static_cast<uInt>(
        std::min<std::size_t>(rest_.size(), std::numeric_limits<uInt>::max()));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
    stream_.avail_in = offered;
    stream_.next_out = reinterpret_cast<Bytef*>(block.data());
    stream_.avail_out = block.size();
    const int result = inflate(&stream_, Z_NO_FLUSH);
    rest_ = rest_.subspan(offered - stream_.avail_in);
    append(std::span(block).first(block.size() - stream_.avail_out));
    return ended(result);
  }

  bool ended(int result) const {
    if (result == Z_STREAM_END) return true;
    if (result == Z_OK && (!rest_.empty() || stream_.avail_out == 0)) return false;
    if (result == Z_OK || result == Z_BUF_ERROR) refuse(where_, "gzip data cut short");
    const std::string why = stream_.msg != nullptr ? stream_.msg : "unknown";
    refuse(where_, "damaged gzip data (" + why + ")");
  }

  void append(std::span<const std::byte> bytes) {
    if (bytes.size() > limit_ - plain_.size()) {
      refuse(where_, "gzip data of more than " + human_bytes(limit_));
    }
    plain_.insert(plain_.end(), bytes.begin(), bytes.end());
  }

  std::span<const std::byte> rest_;
  const std::string& where_;
  std::size_t limit_;
  std::vector<std::byte> plain_;
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> gunzip(std::span<const std::byte> packed, const std::string& where,
                              std::size_t limit) {
  return Inflater(packed, where, limit).run();
}

std::vector<std::byte> gunzip_beginning(std::span<const std::byte> packed,
                                        const std::string& where, std::size_t count) {
  std::vector<std::byte> bytes = Inflater(packed, where, kNoLimit).run(count);
  bytes.resize(std::min(bytes.size(), count));
  return bytes;
}

std::vector<std::byte> plain_bytes(std::vector<std::byte> bytes, const std::string& where,
                                   std::size_t limit) {
  return is_gzip(bytes) ? gunzip(bytes, where, limit) : std::move(bytes);
}

std::vector<std::byte> read_plain(const std::filesystem::path& path, std::size_t limit) {
  return plain_bytes(read_bytes(path), path.string(), limit);
}

PlainFile::PlainFile(const std::filesystem::path& path, std::size_t limit)
    : path_(path.string()), file_(path) {
  if (is_gzip(file_.bytes())) unpacked_ = gunzip(file_.bytes(), path_, limit);
}

std::span<const std::uint8_t> PlainFile::bytes() const {
  const std::span<const std::byte> bytes =
      is_gzip(file_.bytes()) ? std::span(unpacked_) : file_.bytes();
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace convoy
