// SPDX-License-Identifier: Apache-2.0
//
// BatchFiller: writes samples, augmented for an epoch and normalised, in the network's
// input layout.

#pragma once

#include <cstdint>
#include <span>

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/normalization.h"
#include "convoy/loader/sample_images.h"

namespace convoy {

/// For one thread.
class BatchFiller {
 public:
  /// Images of this shape, to which the dataset's are resized before they are augmented.
  /// Borrows the dataset. The seed is that of the augmentation. Requires: what
  /// SampleImages does.
  BatchFiller(const Dataset& data, const Normalization& normalization, Shape shape,
              Augmentation augmentation, std::uint64_t seed)
      : data_(data),
        images_(data, normalization, shape),
        augmentation_(augmentation),
        seed_(seed) {}

  Shape shape() const { return images_.shape(); }

  /// Writes images, [sample][channel][row][column], normalised, and labels. Allocates
  /// nothing if images are in memory. Throws InputError if a file cannot be decoded.
  /// Requires: buffers for all samples; samples < data.size().
  void fill(int epoch, std::span<const std::uint32_t> samples, std::span<float> images,
            std::span<std::int32_t> labels);

 private:
  const Dataset& data_;
  SampleImages images_;
  Augmentation augmentation_;
  std::uint64_t seed_;
};

}  // namespace convoy
