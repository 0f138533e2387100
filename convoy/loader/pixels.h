// SPDX-License-Identifier: Apache-2.0
//
// PixelTables: converts an image's bytes to normalised numbers, with one table of 256
// entries per channel.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/normalization.h"

namespace convoy {

class PixelTables {
 public:
  /// For images of this shape. Requires: the normalization fits it.
  PixelTables(Shape shape, const Normalization& normalization);

  /// Writes a view of an image, [channel][row][column]. Padding is black before
  /// normalisation.
  void write(std::span<const std::uint8_t> image, const View& view, float* dst) const;

 private:
  using Table = std::array<float, 256>;

  void write_row(const Table& table, const std::uint8_t* src, const View& view,
                 float* dst) const;

  Shape shape_;
  std::vector<Table> tables_;  // by channel: the normalised value of each byte
};

}  // namespace convoy
