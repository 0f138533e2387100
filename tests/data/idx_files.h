// SPDX-License-Identifier: Apache-2.0
//
// Small idx files for tests: content, packing, whole datasets.

#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/data/source.h"
#include "convoy/system/file.h"

namespace convoy {

inline std::string big_endian(std::initializer_list<std::uint32_t> words) {
  std::string bytes;
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes += static_cast<char>(word >> shift);
  }
  return bytes;
}

/// Images of which byte i is i modulo 251, after `first`.
inline std::string idx_images(std::uint32_t count, std::uint32_t height,
                              std::uint32_t width, std::uint32_t first = 0) {
  std::string bytes = big_endian({0x803, count, height, width});
  for (std::uint32_t i = 0; i < count * height * width; ++i) {
    bytes += static_cast<char>((first + i) % 251);
  }
  return bytes;
}

inline std::string idx_labels(const std::vector<std::uint8_t>& labels) {
  return big_endian({0x801, static_cast<std::uint32_t>(labels.size())}) +
         std::string(labels.begin(), labels.end());
}

inline std::string gzip(const std::string& plain) {
  z_stream stream{};
  check(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib starts");
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "all is packed");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The four files of a small dataset of 28 x 28 images, in the order of
/// DataForm::files().
struct SmallFiles {
  std::vector<std::string> names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  std::vector<std::string> contents;

  explicit SmallFiles(std::uint32_t train_count, std::uint32_t test_count = 2)
      : contents{idx_images(train_count, 28, 28), idx_labels(labels(train_count)),
                 idx_images(test_count, 28, 28, 7), idx_labels(labels(test_count))} {}

  void write(const std::filesystem::path& folder, bool packed = false) const {
    make_folders(folder);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = names[i] + (packed ? ".gz" : "");
      write_atomically(folder / name, packed ? gzip(contents[i]) : contents[i]);
    }
  }

  /// A dataset of which these are the published files.
  DataSource source() const {
    DataSource source = find_source("mnist");
    source.name = "small";
    source.system_folder = source.npm_package = "";
    source.forms = {{.format = Format::idx,
                     .train = {published(0), published(1)},
                     .test = {published(2), published(3)}}};
    return source;
  }

  DataFile published(std::size_t i) const {
    const auto bytes = std::as_bytes(std::span(contents[i]));
    return {names[i], bytes.size(), sha256_hex(bytes)};
  }

 private:
  static std::vector<std::uint8_t> labels(std::uint32_t count) {
    std::vector<std::uint8_t> labels(count);
    for (std::uint32_t i = 0; i < count; ++i) labels[i] = i % 10;
    return labels;
  }
};

}  // namespace convoy
