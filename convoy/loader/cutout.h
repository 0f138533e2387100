// SPDX-License-Identifier: Apache-2.0
//
// Cutout: which part of an image file a sample shows, by torchvision's rules.

#pragma once

#include "convoy/base/random.h"
#include "convoy/images/image.h"

namespace convoy {

/// A box of the image is resized to `size`, and the window of that is shown.
struct Cutout {
  Box box;
  ImageSize size;
  Box window;

  bool operator==(const Cutout&) const = default;
};

/// The centre: Resize(short_side), then CenterCrop(shown). Requires: `shown` is not
/// larger than short_side.
Cutout centre_cutout(ImageSize image, int short_side, ImageSize shown);

/// RandomResizedCrop(shown) with torchvision's scale (0.08, 1) and ratio (3/4, 4/3): ten
/// boxes of random area, shape and place are tried, and the first one that fits is
/// taken. Each is made of one block of the stream.
Cutout random_cutout(ImageSize image, ImageSize shown, const RandomStream& stream);

}  // namespace convoy
