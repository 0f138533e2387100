// SPDX-License-Identifier: Apache-2.0
//
// ImageFile: reads an image whose format its first bytes tell: JPEG, PNG, or raw pixels
// (raw_image.h).

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>

#include "convoy/images/image.h"
#include "convoy/images/jpeg_file.h"
#include "convoy/images/png_rows.h"
#include "convoy/images/raw_image.h"

namespace convoy {

/// How an image is decoded when it is going to be resized.
enum class Decoding {
  exact,  // all pixels, as Pillow decodes them
  fast    // a JPEG reduced by 2, 4 or 8, where it remains at least as large as wanted
};

class ImageFile {
 public:
  /// Reads the header. Borrows `content`; `where` names it in errors. Throws InputError
  /// of kind `data`.
  ImageFile(std::span<const std::byte> content, const std::string& where);

  ImageSize size() const;

  /// The largest reduction with which a box of the image remains at least that large.
  int reduction(const Box& box, ImageSize least, Decoding decoding) const;

  /// Reads at least a box of the reduced image; returns where in `image` it is. Throws
  /// InputError of kind `data`. Requires: a box in the reduced image; one call.
  Box read(const Box& box, int reduction, Image& image);

 private:
  std::variant<std::monostate, JpegFile, PngRows, RawImage> file_;
};

/// A box of an image as one of the reduced image, with at least one pixel.
Box reduced(const Box& box, int reduction);

/// Decodes a whole image, as Pillow does. Throws InputError of kind `data`.
Image decode_image(std::span<const std::byte> content, const std::string& where);

}  // namespace convoy
