// SPDX-License-Identifier: Apache-2.0
//
// Image: decoded pixels, 8-bit RGB, of any size.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

struct ImageSize {
  int width = 0, height = 0;

  bool operator==(const ImageSize&) const = default;
};

/// A rectangle of pixels.
struct Box {
  int left = 0, top = 0, width = 0, height = 0;

  bool operator==(const Box&) const = default;
};

inline Box whole(ImageSize size) { return {0, 0, size.width, size.height}; }

struct Image {
  ImageSize size{};
  std::vector<std::uint8_t> pixels{};  // [row][column][red, green, blue]

  /// Gives it another size. Its memory is kept for images that are not larger.
  void resize(ImageSize new_size) {
    size = new_size;
    pixels.resize(row_bytes() * static_cast<std::size_t>(size.height));
  }

  std::size_t row_bytes() const { return 3 * static_cast<std::size_t>(size.width); }

  std::uint8_t* row(int y) { return &pixels[static_cast<std::size_t>(y) * row_bytes()]; }
  const std::uint8_t* row(int y) const {
    return &pixels[static_cast<std::size_t>(y) * row_bytes()];
  }
};

}  // namespace convoy
