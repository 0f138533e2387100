// SPDX-License-Identifier: Apache-2.0
//
// Random erasing: a random box of a normalised image becomes 0, as torchvision's
// RandomErasing with scale (0.02, 0.33) and ratio (0.3, 3.3).

#pragma once

#include <optional>
#include <span>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/images/image.h"

namespace convoy {

/// The box to erase; none with probability 1 - probability, or if ten boxes in a row do
/// not fit.
std::optional<Box> draw_erased_box(double probability, ImageSize size,
                                   const RandomStream& stream);

/// Sets a box of every channel to 0. Requires: an image of the shape; a box inside.
void erase(std::span<float> image, Shape shape, const Box& box);

}  // namespace convoy
