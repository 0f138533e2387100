// SPDX-License-Identifier: Apache-2.0
//
// Changes of an image's colours, as torchvision's functions of the same names make them
// of PIL images: Pillow's formulas, in its precision and with its rounding.

#pragma once

#include <cstdint>
#include <vector>

#include "convoy/loader/transforms/planes.h"

namespace convoy {

// Factor 1 leaves an image as it is; 0 makes it black, uniformly grey, grey, or smooth.
void adjust_brightness(const Planes& image, double factor);
void adjust_contrast(const Planes& image, double factor);
void adjust_saturation(const Planes& image, double factor);
/// `scratch` is memory of the caller, for the smooth image.
void adjust_sharpness(const Planes& image, double factor,
                      std::vector<std::uint8_t>& scratch);

/// Turns hues by a fraction of the circle. Requires: -0.5 <= factor <= 0.5.
void adjust_hue(const Planes& image, double factor);

/// Keeps the highest bits of every byte.
void posterize(const Planes& image, int bits);
/// Inverts bytes from the threshold on.
void solarize(const Planes& image, double threshold);
/// Spreads each colour to the range of all bytes.
void autocontrast(const Planes& image);
/// Makes all bytes of a colour about equally frequent.
void equalize(const Planes& image);

}  // namespace convoy
