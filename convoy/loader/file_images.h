// SPDX-License-Identifier: Apache-2.0
//
// FileImages: the images of a dataset whose samples are files, decoded, cut out and
// resized.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/image_resizer.h"

namespace convoy {

/// For one thread.
class FileImages {
 public:
  /// A sample's image, and which sample it is.
  struct Shown {
    std::span<const std::uint8_t> pixels;  // [channel][row][column], until the next call
    std::size_t sample;
  };

  /// Borrows the dataset. Requires: its samples are files.
  explicit FileImages(const Dataset& data) : data_(data) {}

  /// Shows a random cutout of a sample, or its centre. If files that cannot be read or
  /// decoded are skipped (ImageFiles::damaged), the next sample that can takes the place
  /// of such a one. Throws InputError. Requires: sample < data.size().
  Shown show(std::size_t sample, const std::optional<AugmentKey>& crop);

 private:
  std::span<const std::uint8_t> decode(std::size_t sample,
                                       const std::optional<AugmentKey>& crop);

  const Dataset& data_;
  std::vector<std::byte> content_;
  ImageResizer resizer_;
};

}  // namespace convoy
