// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/normalization.h"

#include "convoy/base/error.h"
#include "convoy/data/statistics.h"

namespace convoy {

Normalization measure(const Dataset& data) {
  const PixelMoments pixels = pixel_moments(data);
  if (pixels.deviation > 0) return {pixels.mean, pixels.deviation};
  throw InputError(
      InputKind::data,
      {.where = "dataset " + data.name,
       .found = "every pixel is " + std::to_string(int{data.images.front()}),
       .expected = "pixels that differ, or there is nothing to learn and no deviation to "
                   "divide by",
       .hint = ""});
}

}  // namespace convoy
