// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/idx.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <span>

#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"

namespace convoy {
namespace {

constexpr std::uint32_t kImages = 0x00000803;
constexpr std::uint32_t kLabels = 0x00000801;

[[noreturn]] void refuse(const std::string& where, const std::string& found,
                         const std::string& expected) {
  throw bad_data(where, found, expected);
}

/// A file's header and the bytes after it.
struct IdxFile {
  std::string path;
  std::vector<std::byte> content;
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  std::size_t header = 0;

  std::uint32_t count() const { return extents[0]; }
  std::span<const std::uint8_t> body() const {
    return {reinterpret_cast<const std::uint8_t*>(content.data()) + header,
            content.size() - header};
  }
};

std::uint32_t big_endian(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return value;
}

void check_magic(const IdxFile& file, std::uint32_t magic) {
  const auto expected = fmt::format("an idx file of {} (it begins with {:#010x})",
                                    magic == kImages ? "images" : "labels", magic);
  const std::size_t size = file.content.size();
  if (size == 0) refuse(file.path, "an empty file", expected);
  if (size < 4) refuse(file.path, fmt::format("{} bytes", size), expected);
  const std::uint32_t found = big_endian(file.content, 0);
  if (found != magic) {
    refuse(file.path, fmt::format("a file that begins with {:#010x}", found), expected);
  }
}

void check_size(const IdxFile& file) {
  // Three 32-bit extents: 96 bits hold the product, whatever the header claims.
  unsigned __int128 body = 1;
  for (const std::uint32_t extent : file.extents) body *= extent;
  if (body == 0) refuse(file.path, "no samples", "at least one sample");
  const std::size_t found = file.body().size();
  if (body == found) return;
  refuse(file.path, fmt::format("{} bytes after the header", with_commas(found)),
         fmt::format("{} x {} x {} bytes, as its header says", file.extents[0],
                     file.extents[1], file.extents[2]));
}

IdxFile read_file(const std::filesystem::path& path, std::uint32_t magic) {
  IdxFile file{.path = path.string(), .content = read_plain(path)};
  check_magic(file, magic);
  const std::size_t dimensions = magic & 0xff;
  file.header = 4 + 4 * dimensions;
  if (file.content.size() < file.header) {
    refuse(file.path, fmt::format("{} bytes", file.content.size()),
           fmt::format("a header of {} bytes", file.header));
  }
  for (std::size_t i = 0; i < dimensions; ++i) {
    file.extents[i] = big_endian(file.content, 4 + 4 * i);
  }
  check_size(file);
  return file;
}

void check_counts(const IdxFile& images, const IdxFile& labels) {
  if (images.count() == labels.count()) return;
  refuse(labels.path, with_commas(labels.count()) + " labels",
         fmt::format("{} labels, one for each image of {}", with_commas(images.count()),
                     images.path));
}

std::vector<std::uint8_t> copy(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Dataset read_idx(const std::filesystem::path& images_path,
                 const std::filesystem::path& labels_path,
                 const std::vector<std::string>& classes) {
  const IdxFile images = read_file(images_path, kImages);
  const IdxFile labels = read_file(labels_path, kLabels);
  check_counts(images, labels);
  check_labels(labels.body(), classes.size(), labels.path);
  return {.name = "",
          .shape = {1, static_cast<int>(images.extents[1]),
                    static_cast<int>(images.extents[2])},
          .classes = classes,
          .images = copy(images.body()),
          .labels = copy(labels.body())};
}

}  // namespace convoy
