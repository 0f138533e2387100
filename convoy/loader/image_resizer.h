// SPDX-License-Identifier: Apache-2.0
//
// ImageResizer: resizes boxes of RGB images of any size, as Pillow's crop() and then
// resize(BILINEAR) do, to the bit. Only what is shown is computed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/images/image_file.h"
#include "convoy/loader/cutout.h"
#include "convoy/loader/resize.h"

namespace convoy {

/// For one thread.
class ImageResizer {
 public:
  /// Decodes a file and returns what the cutout shows of it, [channel][row][column],
  /// until the next call. Throws InputError of kind `data`.
  std::span<const std::uint8_t> show(ImageFile& file, const Cutout& cutout,
                                     Decoding decoding);

 private:
  void resize_rows(const Box& place, const AxisFilter& across, Range columns);
  void resize_columns(const AxisFilter& down, Range rows);

  Image image_;
  std::vector<std::uint8_t> rows_;  // of the new width: [row][channel][column]
  std::vector<std::int32_t> sums_;  // of one new row
  std::vector<std::uint8_t> shown_;
};

}  // namespace convoy
