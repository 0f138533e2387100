// SPDX-License-Identifier: Apache-2.0
//
// JpegFile: reads a JPEG with libjpeg-turbo, as Pillow does: slow integer DCT, smooth
// upsampling of colours, grey and CMYK converted to RGB, EXIF orientation ignored. The
// pixels are Pillow's to the last bit.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convoy/images/image.h"

namespace convoy {

/// Name and version of the library that reads JPEGs.
std::string jpeg_library();

class JpegFile {
 public:
  /// Reads the header. Borrows `content`; `where` names it in errors. Throws InputError
  /// of kind `data`.
  JpegFile(std::span<const std::uint8_t> content, std::string where);
  ~JpegFile();
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;

  ImageSize size() const;

  /// Reads a box and possibly columns beside it; returns where in `image` the box is. An
  /// image that is reduced by 2, 4 or 8 has that many times fewer pixels per side,
  /// rounded up; its DCT is scaled, which costs less and has other pixels than resizing.
  ///
  /// Not reduced, the file is read to its end, and a truncated one is refused; reduced,
  /// only to the box's last row. Throws InputError of kind `data` if it is damaged.
  /// Requires: a box in the reduced image; one call.
  Box read(const Box& box, int reduction, Image& image);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace convoy
