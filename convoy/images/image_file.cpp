// SPDX-License-Identifier: Apache-2.0

#include "convoy/images/image_file.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/images/image_faults.h"

namespace convoy {
namespace {

constexpr std::array<std::uint8_t, 3> kJpegStart = {0xFF, 0xD8, 0xFF};
constexpr std::array<std::uint8_t, 4> kPngStart = {0x89, 'P', 'N', 'G'};

template <std::size_t Count>
bool starts_with(std::span<const std::uint8_t> content,
                 const std::array<std::uint8_t, Count>& start) {
  return content.size() >= Count && std::ranges::equal(content.first(Count), start);
}

}  // namespace

ImageFile::ImageFile(std::span<const std::byte> file, const std::string& where) {
  const std::span content(reinterpret_cast<const std::uint8_t*>(file.data()),
                          file.size());
  if (starts_with(content, kJpegStart)) {
    file_.emplace<JpegFile>(content, where);
  } else if (starts_with(content, kPngStart)) {
    file_.emplace<PngRows>(content, where, PngKind::any);
  } else if (is_raw_image(content)) {
    file_.emplace<RawImage>(content, where);
  } else {
    refuse_image(where, content.empty() ? "an empty file"
                                        : "a file that is neither a JPEG nor a PNG");
  }
}

ImageSize ImageFile::size() const {
  if (const auto* jpeg = std::get_if<JpegFile>(&file_)) return jpeg->size();
  if (const auto* raw = std::get_if<RawImage>(&file_)) return raw->size();
  const auto& png = std::get<PngRows>(file_);
  return {static_cast<int>(png.width()), static_cast<int>(png.height())};
}

int ImageFile::reduction(const Box& box, ImageSize least, Decoding decoding) const {
  if (decoding == Decoding::exact || !std::holds_alternative<JpegFile>(file_)) return 1;
  int reduction = 8;
  while (reduction > 1 &&
         (box.width / reduction < least.width || box.height / reduction < least.height)) {
    reduction /= 2;
  }
  return reduction;
}

Box ImageFile::read(const Box& box, int reduction, Image& image) {
  if (auto* jpeg = std::get_if<JpegFile>(&file_)) {
    return jpeg->read(box, reduction, image);
  }
  check(reduction == 1, "only a JPEG is reduced");
  if (const auto* raw = std::get_if<RawImage>(&file_)) {
    raw->read(box, image);
    return whole(image.size);
  }
  image.resize(size());
  std::get<PngRows>(file_).read_all(image.pixels);
  return box;
}

Box reduced(const Box& box, int reduction) {
  const int left = box.left / reduction, top = box.top / reduction;
  return {left, top, std::max(1, (box.left + box.width) / reduction - left),
          std::max(1, (box.top + box.height) / reduction - top)};
}

Image decode_image(std::span<const std::byte> content, const std::string& where) {
  ImageFile file(content, where);
  Image image;
  file.read(whole(file.size()), 1, image);
  return image;
}

}  // namespace convoy
