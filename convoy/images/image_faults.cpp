// SPDX-License-Identifier: Apache-2.0

#include "convoy/images/image_faults.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {

void refuse_image(const std::string& where, const std::string& found) {
  throw InputError(InputKind::data,
                   {.where = where,
                    .found = found,
                    .expected = "a complete JPEG or PNG file, 8-bit grey, RGB or CMYK",
                    .hint = "replace or remove the file"});
}

void check_image_size(const std::string& where, std::uint64_t width,
                      std::uint64_t height) {
  if (width > 0 && height > 0 && width <= kMostPixels / height) return;
  throw InputError(InputKind::data,
                   {.where = where,
                    .found = fmt::format("a header that announces {} x {} pixels",
                                         with_commas(width), with_commas(height)),
                    .expected = "from 1 to " + with_commas(kMostPixels) + " pixels",
                    .hint = "replace or remove the file"});
}

}  // namespace convoy
