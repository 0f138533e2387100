// SPDX-License-Identifier: Apache-2.0
//
// SampleImages: the images of a dataset as a network takes them: decoded if they are
// files, resized, then shown in a view, then normalised.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/file_images.h"
#include "convoy/loader/normalization.h"
#include "convoy/loader/pixels.h"
#include "convoy/loader/resize.h"
#include "convoy/loader/transforms/byte_transforms.h"

namespace convoy {

/// For one thread.
class SampleImages {
 public:
  /// Images of this shape; those of the dataset are resized if they have another. Borrows
  /// the dataset. Requires: as many channels; the normalization fits the images; standard
  /// deviations above 0; the dataset's shape, if its images are files.
  SampleImages(const Dataset& data, const Normalization& normalization, Shape shape,
               DamagedSample damaged = DamagedSample::replaced);

  Shape shape() const { return shape_; }
  std::size_t size() const { return data_.size(); }

  /// Writes what the view shows of a sample's image, [channel][row][column], and returns
  /// the sample: another one, or none and nothing is written, if its file is skipped
  /// (file_images.h). A random cutout is changed by `transforms` if they are on.
  /// Allocates nothing if images are in memory. Throws InputError if a file cannot be
  /// decoded. Requires: sample < size(); no cutout of images in memory.
  std::optional<std::size_t> write(std::size_t sample, const View& view, float* dst,
                                   ByteTransforms* transforms = nullptr);

 private:
  void write_file(std::span<const std::uint8_t> pixels, const View& view, float* dst,
                  ByteTransforms* transforms);

  const Dataset& data_;
  Shape shape_;
  PixelWriter pixels_;
  /// A decoder if its images are files; a resizer, of the dataset's type of pixels, if
  /// they have another shape.
  std::variant<std::monostate, Resizer<std::uint8_t>, Resizer<float>, FileImages> source_;
};

}  // namespace convoy
