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
#include "convoy/loader/transforms/byte_transforms.h"
#include "convoy/loader/transforms/transform_options.h"

namespace convoy {

/// The label of a sample that is left out because its file cannot be decoded.
inline constexpr std::int32_t kNoLabel = -1;

/// How the images of an epoch differ from those of the dataset.
struct AugmentOptions {
  Augmentation augmentation = Augmentation::none;
  std::uint64_t seed = 1;
  TransformOptions transforms{};  // besides crops and flips
};

/// For one thread.
class BatchFiller {
 public:
  /// Images of this shape, to which the dataset's are resized before they are augmented.
  /// Borrows the dataset. Requires: what SampleImages does.
  BatchFiller(const Dataset& data, const Normalization& normalization, Shape shape,
              const AugmentOptions& options,
              DamagedSample damaged = DamagedSample::replaced)
      : data_(data),
        images_(data, normalization, shape, damaged),
        options_(options),
        transforms_(options.transforms) {}

  Shape shape() const { return images_.shape(); }

  /// Writes images, [sample][channel][row][column], normalised, and labels; kNoLabel of a
  /// sample that is left out, whose image is unspecified. Allocates
  /// nothing if images are in memory. Throws InputError if a file cannot be decoded.
  /// Requires: buffers for all samples; samples < data.size().
  void fill(int epoch, std::span<const std::uint32_t> samples, std::span<float> images,
            std::span<std::int32_t> labels);

 private:
  std::int32_t fill_one(int epoch, std::uint32_t sample, std::span<float> image);

  const Dataset& data_;
  SampleImages images_;
  AugmentOptions options_;
  ByteTransforms transforms_;
};

}  // namespace convoy
