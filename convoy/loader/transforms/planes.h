// SPDX-License-Identifier: Apache-2.0
//
// Planes: the pixels of an image that is going to be changed, colour after colour.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "convoy/images/image.h"

namespace convoy {

/// Borrows bytes, [red, green, blue][row][column].
struct Planes {
  std::span<std::uint8_t> pixels;
  ImageSize size;

  std::size_t plane() const { return pixels.size() / 3; }
  std::span<std::uint8_t> channel(std::size_t number) const {
    return pixels.subspan(number * plane(), plane());
  }
};

/// What each value of a byte becomes.
using ByteTable = std::array<std::uint8_t, 256>;

inline void look_up(std::span<std::uint8_t> bytes, const ByteTable& table) {
  for (std::uint8_t& byte : bytes) byte = table[byte];
}

}  // namespace convoy
