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

/// What happens to a sample whose file cannot be read or decoded, if such files are
/// skipped (ImageFiles::damaged).
enum class DamagedSample {
  replaced,  // the next sample that can be decoded takes its place
  left_out   // there is no image
};

/// For one thread.
class FileImages {
 public:
  /// A sample's image, and which sample it is.
  struct Shown {
    std::span<const std::uint8_t> pixels;  // [channel][row][column], until the next call
    std::size_t sample;
  };

  /// Borrows the dataset. Requires: its samples are files.
  explicit FileImages(const Dataset& data,
                      DamagedSample damaged = DamagedSample::replaced)
      : data_(data), damaged_(damaged) {}

  /// Shows a random cutout of a sample, or its centre; nothing if it is left out. Throws
  /// InputError. Requires: sample < data.size().
  std::optional<Shown> show(std::size_t sample, const std::optional<AugmentKey>& crop);

 private:
  std::span<const std::uint8_t> decode(std::size_t sample,
                                       const std::optional<AugmentKey>& crop);

  const Dataset& data_;
  DamagedSample damaged_;
  std::vector<std::byte> content_;
  ImageResizer resizer_;
};

}  // namespace convoy
