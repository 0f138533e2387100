// SPDX-License-Identifier: Apache-2.0
//
// Affine maps of an image, as torchvision's affine() and rotate() make them of PIL images
// with bilinear interpolation: black where the image does not reach.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convoy/loader/transforms/planes.h"

namespace convoy {

/// Where a pixel is taken from: x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5].
using AffineMap = std::array<double, 6>;

/// Shears by a slope, about the upper left corner.
AffineMap shear_across(double slope);
AffineMap shear_down(double slope);
AffineMap translation(int right, int down);
/// Rotates counter-clockwise about the centre.
AffineMap rotation(double degrees, ImageSize size);

/// Replaces an image by what the map shows of it. `scratch` is memory of the caller.
void transform(const Planes& image, const AffineMap& map,
               std::vector<std::uint8_t>& scratch);

}  // namespace convoy
