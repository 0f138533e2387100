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
#include "convoy/loader/pixels.h"

namespace convoy {

/// Several threads may use it at once.
class BatchFiller {
 public:
  /// Borrows the dataset. The seed is that of the augmentation. Requires: the
  /// normalization fits the images; standard deviations are above 0.
  BatchFiller(const Dataset& data, const Normalization& normalization,
              Augmentation augmentation, std::uint64_t seed)
      : data_(data),
        pixels_(data.shape, normalization),
        augmentation_(augmentation),
        seed_(seed) {}

  /// Writes images, [sample][channel][row][column], normalised, and labels. Allocates
  /// nothing. Requires: buffers for all samples; samples < data.size().
  void fill(int epoch, std::span<const std::uint32_t> samples, std::span<float> images,
            std::span<std::int32_t> labels) const;

 private:
  const Dataset& data_;
  PixelTables pixels_;
  Augmentation augmentation_;
  std::uint64_t seed_;
};

}  // namespace convoy
