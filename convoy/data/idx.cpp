// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/idx.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"
#include "convoy/data/labels.h"
#include "convoy/system/mapped_file.h"

namespace convoy {
namespace {

constexpr std::uint32_t kImages = 0x00000803;
constexpr std::uint32_t kLabels = 0x00000801;

[[noreturn]] void refuse(const std::string& where, const std::string& found,
                         const std::string& expected) {
  throw bad_data(where, found, expected);
}

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return value;
}

void check_magic(const std::string& path, std::span<const std::byte> content,
                 std::uint32_t magic) {
  const auto expected = fmt::format("an idx file of {} (it begins with {:#010x})",
                                    magic == kImages ? "images" : "labels", magic);
  if (content.empty()) refuse(path, "an empty file", expected);
  if (content.size() < 4) refuse(path, fmt::format("{} bytes", content.size()), expected);
  const std::uint32_t found = big_endian(content, 0);
  if (found != magic) {
    refuse(path, fmt::format("a file that begins with {:#010x}", found), expected);
  }
}

/// A file's header and the bytes after it.
class IdxFile {
 public:
  IdxFile(const std::filesystem::path& path, std::uint32_t magic)
      : path_(path.string()), file_(path), is_packed_(is_gzip(file_.bytes())) {
    read_header(magic);
    // A compressed file is decompressed to the length that the header announces, plus one
    // byte to detect excess.
    if (is_packed_) unpacked_ = gunzip_beginning(file_.bytes(), path_, whole_size() + 1);
    check_size();
  }

  const std::string& path() const { return path_; }
  std::uint32_t count() const { return extents_[0]; }
  int height() const { return static_cast<int>(extents_[1]); }
  int width() const { return static_cast<int>(extents_[2]); }
  std::span<const std::uint8_t> body() const {
    const std::span<const std::byte> after = content().subspan(header_);
    return {reinterpret_cast<const std::uint8_t*>(after.data()), after.size()};
  }

 private:
  std::span<const std::byte> content() const {
    return is_packed_ ? std::span<const std::byte>(unpacked_) : file_.bytes();
  }

  void read_header(std::uint32_t magic) {
    const std::size_t dimensions = magic & 0xff;
    header_ = 4 + 4 * dimensions;
    if (is_packed_) unpacked_ = gunzip_beginning(file_.bytes(), path_, header_);
    check_magic(path_, content(), magic);
    if (content().size() < header_) {
      refuse(path_, fmt::format("{} bytes", content().size()),
             fmt::format("a header of {} bytes", header_));
    }
    for (std::size_t i = 0; i < dimensions; ++i) {
      extents_[i] = big_endian(content(), 4 + 4 * i);
    }
  }

  /// The product of three 32-bit extents fits into 96 bits.
  unsigned __int128 body_size() const {
    unsigned __int128 size = 1;
    for (const std::uint32_t extent : extents_) size *= extent;
    return size;
  }

  /// Throws InputError if the machine has less free memory.
  std::size_t whole_size() const {
    expect_room_for(body_size(), path_);
    return header_ + static_cast<std::size_t>(body_size());
  }

  void check_size() const {
    if (body_size() == 0) refuse(path_, "no samples", "at least one sample");
    const std::size_t found = body().size();
    if (body_size() == found) return;
    refuse(path_,
           fmt::format("{} bytes after the header{}", with_commas(found),
                       is_packed_ && found > body_size() ? " or more" : ""),
           fmt::format("{} x {} x {} bytes, as its header says", extents_[0], extents_[1],
                       extents_[2]));
  }

  std::string path_;
  MappedFile file_;
  bool is_packed_;
  std::vector<std::byte> unpacked_;  // of a gzip file
  std::array<std::uint32_t, 3> extents_{1, 1, 1};
  std::size_t header_ = 0;
};

void check_counts(const IdxFile& images, const IdxFile& labels) {
  if (images.count() == labels.count()) return;
  refuse(labels.path(), with_commas(labels.count()) + " labels",
         fmt::format("{} labels, one for each image of {}", with_commas(images.count()),
                     images.path()));
}

std::vector<std::uint8_t> copy(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Dataset read_idx_images(const std::filesystem::path& path,
                        const std::vector<std::string>& classes) {
  const IdxFile images(path, kImages);
  return {.name = "",
          .shape = {1, images.height(), images.width()},
          .classes = classes,
          .images = copy(images.body()),
          .labels = std::vector<std::int32_t>(images.count())};
}

Dataset read_idx(const std::filesystem::path& images_path,
                 const std::filesystem::path& labels_path,
                 const std::vector<std::string>& classes) {
  const IdxFile images(images_path, kImages);
  const IdxFile labels(labels_path, kLabels);
  check_counts(images, labels);
  std::vector<std::int32_t> label_numbers = widened(labels.body());
  check_labels(label_numbers, classes.size(), labels.path());
  return {.name = "",
          .shape = {1, images.height(), images.width()},
          .classes = classes,
          .images = copy(images.body()),
          .labels = std::move(label_numbers)};
}

}  // namespace convoy
