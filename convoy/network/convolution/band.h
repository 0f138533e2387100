// SPDX-License-Identifier: Apache-2.0
//
// Band: the rows of a pack's images that one row of a convolution sees.

#pragma once

#include <algorithm>

#include "convoy/network/stage.h"

namespace convoy {

/// Rows of all channels: [channel][row][column][16].
struct Band {
  const float* first;
  int top;   // the number of the first row
  int rows;  // of each channel
};

/// The rows [top, bottom) of images of that shape, as far as there are any, whose first
/// number is `from`: widened into the buffer, or all rows in place.
inline Band read_band(const Stored& images, std::size_t from, Shape shape, int top,
                      int bottom, float* buffer) {
  if (images.is_fp32()) return {images + from, 0, shape.height};
  const int begin = std::clamp(top, 0, shape.height - 1);
  const int end = std::clamp(bottom, begin + 1, shape.height);
  const std::size_t row = static_cast<std::size_t>(shape.width) * kPack;
  const std::size_t size = static_cast<std::size_t>(end - begin) * row;
  for (int c = 0; c < shape.channels; ++c) {
    images.read(from + (static_cast<std::size_t>(c) * shape.height + begin) * row, size,
                buffer + static_cast<std::size_t>(c) * size);
  }
  return {buffer, begin, end - begin};
}

/// What a buffer for bands of so many rows needs.
inline std::size_t band_floats(Shape shape, int rows) {
  return pack_floats({shape.channels, std::min(shape.height, rows), shape.width});
}

}  // namespace convoy
