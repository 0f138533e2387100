// SPDX-License-Identifier: Apache-2.0
//
// Between images and rows: the pixels of sixteen images are as many rows as sixteen times
// the pixels of one, and these are whole packs. One channel is moved at a time, so that
// what is read or written out of order stays in cache.

#pragma once

#include <algorithm>
#include <cstddef>

#include "convoy/network/row_copy.h"

namespace convoy {

/// Sixteen samples of channels x pixels; only the first `samples` are real.
struct PixelRows {
  std::size_t channels, pixels, samples;

  std::size_t floats() const { return channels * pixels * kPack; }
};

/// From one pack of images to packs of rows, the channels [first, end), of which `images`
/// has only these. Rows that fill up the last pack become zeros.
inline void pixels_to_rows(const PixelRows& of, std::size_t first, std::size_t end,
                           const float* images, float* rows) {
  for (std::size_t c = first; c < end; ++c) {
    const float* plane = images + (c - first) * of.pixels * kPack;
    std::size_t row = 0;
    for (std::size_t sample = 0; sample < of.samples; ++sample) {
      for (std::size_t p = 0; p < of.pixels; ++p, ++row) {
        rows[row_offset(row, of.channels, c)] = plane[p * kPack + sample];
      }
    }
    for (; row % kPack != 0; ++row) rows[row_offset(row, of.channels, c)] = 0;
  }
}

/// The reverse. Images that only fill up become zeros.
inline void rows_to_pixels(const PixelRows& of, std::size_t first, std::size_t end,
                           const float* rows, float* images) {
  for (std::size_t c = first; c < end; ++c) {
    float* plane = images + (c - first) * of.pixels * kPack;
    if (of.samples < kPack) std::fill_n(plane, of.pixels * kPack, 0.0f);
    for (std::size_t sample = 0, row = 0; sample < of.samples; ++sample) {
      for (std::size_t p = 0; p < of.pixels; ++p, ++row) {
        plane[p * kPack + sample] = rows[row_offset(row, of.channels, c)];
      }
    }
  }
}

}  // namespace convoy
