// SPDX-License-Identifier: Apache-2.0
//
// Raw image: pixels as they are in memory, for files that convoy writes and reads itself:
//
//   byte 0  "cvyrgb01"      8
//        8  width, height   4 each, little-endian
//       16  pixels          [row][column][red, green, blue]

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/images/image.h"

namespace convoy {

std::vector<std::byte> raw_image_bytes(const Image& image);

/// Whether the bytes begin like a raw image.
bool is_raw_image(std::span<const std::uint8_t> content);

class RawImage {
 public:
  /// Borrows `content`; `where` names it in errors. Throws InputError of kind `data`
  /// unless it is as long as its header says. Requires: is_raw_image(content).
  RawImage(std::span<const std::uint8_t> content, const std::string& where);

  ImageSize size() const { return size_; }

  /// Copies a box. Requires: a box in the image.
  void read(const Box& box, Image& image) const;

 private:
  ImageSize size_;
  std::span<const std::uint8_t> pixels_;
};

}  // namespace convoy
