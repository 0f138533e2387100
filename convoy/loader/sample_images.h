// SPDX-License-Identifier: Apache-2.0
//
// SampleImages: the images of a dataset as a network takes them: resized, then shown in a
// view, then normalised.

#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/normalization.h"
#include "convoy/loader/pixels.h"
#include "convoy/loader/resize.h"

namespace convoy {

/// For one thread.
class SampleImages {
 public:
  /// Images of this shape; those of the dataset are resized if they have another. Borrows
  /// the dataset. Requires: as many channels; the normalization fits the images; standard
  /// deviations above 0.
  SampleImages(const Dataset& data, const Normalization& normalization, Shape shape);

  Shape shape() const { return shape_; }
  std::size_t size() const { return data_.size(); }

  /// Writes what the view shows of a sample's image, [channel][row][column]. Allocates
  /// nothing. Requires: sample < size().
  void write(std::size_t sample, const View& view, float* dst);

 private:
  const Dataset& data_;
  Shape shape_;
  PixelWriter pixels_;
  /// Of the dataset's type of pixels, if its images have another shape.
  std::variant<std::monostate, Resizer<std::uint8_t>, Resizer<float>> resizer_;
};

}  // namespace convoy
