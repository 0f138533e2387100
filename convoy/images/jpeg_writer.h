// SPDX-License-Identifier: Apache-2.0
//
// Writes JPEG files with libjpeg-turbo.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoy/images/image.h"

namespace convoy {

/// Returns an image as a JPEG of a quality from 1 to 100, with colours at half resolution
/// (4:2:0), as Pillow's save() writes it. Throws InputError of kind `data`, naming
/// `where`, if libjpeg cannot write the image: a side is longer than 65,500.
std::vector<std::byte> jpeg_bytes(const Image& image, int quality,
                                  const std::string& where);

}  // namespace convoy
