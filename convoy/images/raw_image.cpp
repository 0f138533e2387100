// SPDX-License-Identifier: Apache-2.0

#include "convoy/images/raw_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "convoy/base/text.h"
#include "convoy/images/image_faults.h"

namespace convoy {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'c', 'v', 'y', 'r', 'g', 'b', '0', '1'};
constexpr std::size_t kHeaderBytes = 16;

std::uint32_t extent_at(std::span<const std::uint8_t> content, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{content[at + i]} << (8 * i);
  return value;
}

void put_extent(int extent, std::byte* dst) {
  for (int i = 0; i < 4; ++i) dst[i] = static_cast<std::byte>(extent >> (8 * i));
}

}  // namespace

std::vector<std::byte> raw_image_bytes(const Image& image) {
  std::vector<std::byte> bytes(kHeaderBytes + image.pixels.size());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put_extent(image.size.width, &bytes[8]);
  put_extent(image.size.height, &bytes[12]);
  std::ranges::copy(std::as_bytes(std::span(image.pixels)), bytes.begin() + kHeaderBytes);
  return bytes;
}

bool is_raw_image(std::span<const std::uint8_t> content) {
  return content.size() >= kMagic.size() &&
         std::ranges::equal(content.first(kMagic.size()), kMagic);
}

RawImage::RawImage(std::span<const std::uint8_t> content, const std::string& where) {
  if (content.size() < kHeaderBytes) refuse_image(where, "a damaged raw image");
  const std::uint32_t width = extent_at(content, 8), height = extent_at(content, 12);
  check_image_size(where, width, height);
  pixels_ = content.subspan(kHeaderBytes);
  if (pixels_.size() != 3 * std::size_t{width} * height) {
    refuse_image(where, fmt::format("a raw image of {} bytes for {} x {} pixels",
                                    with_commas(pixels_.size()), width, height));
  }
  size_ = {static_cast<int>(width), static_cast<int>(height)};
}

void RawImage::read(const Box& box, Image& image) const {
  image.resize({box.width, box.height});
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(size_.width);
  for (int y = 0; y < box.height; ++y) {
    const std::size_t at = static_cast<std::size_t>(box.top + y) * row_bytes +
                           3 * static_cast<std::size_t>(box.left);
    std::memcpy(image.row(y), &pixels_[at], image.row_bytes());
  }
}

}  // namespace convoy
