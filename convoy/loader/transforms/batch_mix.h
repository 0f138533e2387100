// SPDX-License-Identifier: Apache-2.0
//
// Batch mix: mixup and cutmix. Each image of a batch is mixed with the one before it, the
// first with the last; labels become distributions.
//
// A batch has one mix, as in torchvision's reference training: mixup adds images by
// weight, cutmix pastes a box. What a batch's mix is follows from seed, epoch and batch
// number; "before" is the order of the whole batch, whichever ranks prepare its parts.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/images/image.h"
#include "convoy/loader/transforms/transform_options.h"

namespace convoy {

struct BatchMix {
  /// The weight of an image's own label; of the label before it, the rest.
  double own = 1;
  std::optional<Box> pasted{};  // cutmix: the box of the image before; none: mixup

  bool operator==(const BatchMix&) const = default;
};

/// Draws a batch's mix of the blocks that begin there. Requires: options that are on.
BatchMix draw_mix(const MixOptions& options, ImageSize size, const RandomStream& stream,
                  std::uint64_t first_block);

/// A mixup of that weight, or a cutmix about that place whose weight is adjusted to the
/// pixels that remain.
BatchMix mixup_of(double own);
BatchMix cutmix_of(double own, ImageSize size, int x, int y);

/// Mixes an image with the one before it.
void mix_images(const BatchMix& mix, Shape shape, std::span<const float> before,
                std::span<float> image);

/// Writes the distribution of a sample over all classes, and returns the class of its
/// largest number: the lower one of equals.
std::int32_t mix_labels(const BatchMix& mix, std::int32_t before, std::int32_t label,
                        std::span<float> distribution);

}  // namespace convoy
