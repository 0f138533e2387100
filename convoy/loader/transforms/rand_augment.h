// SPDX-License-Identifier: Apache-2.0
//
// RandAugment: a few operations of fourteen, drawn for each image, with torchvision's
// magnitudes.

#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/loader/transforms/planes.h"
#include "convoy/loader/transforms/transform_options.h"

namespace convoy {

/// In torchvision's order.
enum class ImageOperation : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize
};

inline constexpr int kImageOperations = 14;
inline constexpr int kMagnitudes = 31;

struct DrawnOperation {
  ImageOperation operation = ImageOperation::identity;
  double magnitude = 0;

  bool operator==(const DrawnOperation&) const = default;
};

/// The magnitude of a bin, 0 .. kMagnitudes - 1, for images of that size.
double magnitude_of(ImageOperation operation, int bin, ImageSize size);

/// Whether half of the drawn magnitudes are negative.
bool has_sign(ImageOperation operation);

/// Draws operation `number` of an image.
DrawnOperation draw_operation(const RandAugment& options, ImageSize size,
                              const RandomStream& stream, int number);

/// `scratch` is memory of the caller.
void apply(const DrawnOperation& drawn, const Planes& image,
           std::vector<std::uint8_t>& scratch);

}  // namespace convoy
