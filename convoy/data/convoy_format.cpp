// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/convoy_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/labels.h"
#include "convoy/system/file.h"
#include "convoy/system/mapped_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "convoyds";
// Files of version 1 are as they were before there was another: both are read, and a file
// is written as version 1 where one byte per label is enough.
constexpr std::uint32_t kByteLabels = 1, kWideLabels = 2;
constexpr std::size_t kHeaderBytes = 256;
constexpr std::size_t kNameBytes = 64;
constexpr std::size_t kDigestBytes = 64;
constexpr const char* kAgain = "remove it and get the dataset again";

struct Header {
  std::array<std::uint32_t, 4> extents;  // channels, height, width, classes
  std::uint64_t count;
  std::string name;
  std::string sha256;

  Shape shape() const {
    return {static_cast<int>(extents[0]), static_cast<int>(extents[1]),
            static_cast<int>(extents[2])};
  }
};

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string filled(std::string text, std::size_t size) {
  check(text.size() <= size, "a text fits its field");
  text.resize(size, '\0');
  return text;
}

std::uint32_t version_of(std::size_t classes) {
  return label_bytes(classes) == 1 ? kByteLabels : kWideLabels;
}

std::string to_bytes(const Header& header) {
  std::string text(kMagic);
  text += number(version_of(header.extents[3]), 4);
  for (const std::uint32_t extent : header.extents) text += number(extent, 4);
  text += number(0, 4) + number(header.count, 8);
  text += filled(header.name, kNameBytes) + filled(header.sha256, kDigestBytes);
  return filled(text, kHeaderBytes);
}

/// Reads fields from the beginning of a header.
class Fields {
 public:
  explicit Fields(std::string_view header) : rest_(header) {}

  std::string_view bytes(std::size_t size) {
    const std::string_view field = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return field;
  }

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view field = bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(field[i])} << (8 * i);
    }
    return value;
  }

  /// Reads a text up to its zero padding.
  std::string text(std::size_t size) {
    const std::string_view field = bytes(size);
    return std::string(field.substr(0, field.find('\0')));
  }

 private:
  std::string_view rest_;
};

void check_version(std::uint64_t version, std::size_t classes, const std::string& where) {
  if (version == version_of(classes)) return;
  throw bad_data(
      where, fmt::format("version {} with {} classes", version, classes),
      fmt::format("version {}, as files of so many classes have", version_of(classes)),
      kAgain);
}

Header parse(std::span<const std::byte> file, const std::string& where) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::string expected = "a dataset file of convoy, of version 1 or 2";
  if (!text.starts_with(kMagic)) {
    throw bad_data(where, text.empty() ? "an empty file" : "a file of another kind",
                   expected, kAgain);
  }
  if (text.size() < kHeaderBytes) {
    throw bad_data(where, fmt::format("{} bytes", text.size()),
                   fmt::format("a header of {} bytes", kHeaderBytes), kAgain);
  }
  Fields fields(text.substr(kMagic.size()));
  const std::uint64_t version = fields.number(4);
  if (version != kByteLabels && version != kWideLabels) {
    throw bad_data(where, fmt::format("version {}", version), expected, kAgain);
  }
  Header header{};
  for (std::uint32_t& extent : header.extents) {
    extent = static_cast<std::uint32_t>(fields.number(4));
  }
  check_version(version, header.extents[3], where);
  fields.bytes(4);
  header.count = fields.number(8);
  header.name = fields.text(kNameBytes);
  header.sha256 = fields.text(kDigestBytes);
  return header;
}

/// Returns the length that a header announces. Each extent is checked first, so that the
/// product does not overflow.
unsigned __int128 bytes_after(const Header& header, const std::string& where) {
  unsigned __int128 image = 1;
  for (std::size_t i = 0; i < header.extents.size(); ++i) {
    const std::uint32_t extent = header.extents[i], most = i < 3 ? 1 << 16 : 1 << 30;
    if (extent == 0 || extent > most) {
      throw bad_data(where, fmt::format("an extent of {}", extent),
                     fmt::format("extents from 1 to {}", most), kAgain);
    }
    if (i < 3) image *= extent;
  }
  return (image + label_bytes(header.extents[3])) * header.count;
}

void check_length(const Header& header, std::size_t found, const std::string& where) {
  if (header.count == 0) throw bad_data(where, "no samples", "at least one", kAgain);
  if (bytes_after(header, where) == found - kHeaderBytes) return;
  throw bad_data(where, with_commas(found - kHeaderBytes) + " bytes after the header",
                 fmt::format("{} labels and as many images of {}, as its header says",
                             with_commas(header.count), to_text(header.shape())),
                 kAgain);
}

void check_dataset(const Header& header, const std::string& name, std::size_t classes,
                   const std::string& where) {
  if (header.name != name) {
    throw bad_data(where, "samples of " + header.name, "samples of " + name,
                   "name another folder or data=" + header.name);
  }
  if (header.extents[3] == classes) return;
  throw bad_data(where, fmt::format("{} classes", header.extents[3]),
                 fmt::format("the {} classes of {}", classes, name), kAgain);
}

/// Of the labels, as they are in the file, and the images.
std::string digest_of(std::span<const std::uint8_t> labels, const Dataset& data) {
  Sha256 digest;
  digest.add(std::as_bytes(labels));
  digest.add(std::as_bytes(data.images.bytes()));
  return digest.hex();
}

}  // namespace

std::size_t compact_bytes(const Shape& shape, std::size_t count) {
  return kHeaderBytes + count * (1 + shape.size());
}

void write_convoy_format(const fs::path& path, const Dataset& data) {
  const std::vector<std::uint8_t> labels =
      encode_labels(data.labels, data.classes.size());
  const Header header{.extents = {static_cast<std::uint32_t>(data.shape.channels),
                                  static_cast<std::uint32_t>(data.shape.height),
                                  static_cast<std::uint32_t>(data.shape.width),
                                  static_cast<std::uint32_t>(data.classes.size())},
                      .count = data.size(),
                      .name = data.name,
                      .sha256 = digest_of(labels, data)};
  AtomicFile file(path);
  file.write(to_bytes(header));
  file.write(std::as_bytes(std::span(labels)));
  file.write(std::as_bytes(data.images.bytes()));
  file.commit();
}

Dataset read_convoy_format(const fs::path& path, const std::string& name,
                           const std::vector<std::string>& classes) {
  const auto file = std::make_shared<const MappedFile>(path);
  const Header header = parse(file->bytes(), path.string());
  check_length(header, file->bytes().size(), path.string());
  check_dataset(header, name, classes.size(), path.string());
  const std::span<const std::uint8_t> body(
      reinterpret_cast<const std::uint8_t*>(file->bytes().data()) + kHeaderBytes,
      file->bytes().size() - kHeaderBytes);
  const std::size_t label_end = header.count * label_bytes(classes.size());
  std::vector<std::int32_t> labels = decode_labels(body.first(label_end), classes.size());
  check_labels(labels, classes.size(), path.string());
  return {.name = name,
          .shape = header.shape(),
          .classes = classes,
          .images = SharedBytes(body.subspan(label_end), file),
          .labels = std::move(labels)};
}

void verify_convoy_format(const fs::path& path, const std::string& hint) {
  const MappedFile file(path);
  const Header header = parse(file.bytes(), path.string());
  const std::string digest = sha256_hex(file.bytes().subspan(kHeaderBytes));
  if (digest == header.sha256) return;
  throw bad_data(path.string(), "content with SHA-256 " + digest,
                 "the SHA-256 " + header.sha256 + " that its header says", hint);
}

}  // namespace convoy
