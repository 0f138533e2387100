// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/normalization.h"

#include <string>

#include "convoy/base/error.h"

namespace convoy {
namespace {

void refuse_flat(const PixelMoments& moments, const std::string& where, int pixel) {
  if (moments.deviation > 0) return;
  throw InputError(
      InputKind::data,
      {.where = where,
       .found = "every pixel is " + std::to_string(pixel),
       .expected =
           "pixels that differ: there is nothing to learn otherwise, and no std to "
           "divide by",
       .hint = ""});
}

}  // namespace

Normalization measure(const Dataset& data) {
  const PixelMoments moments = pixel_moments(data);
  refuse_flat(moments, "dataset " + data.name, data.image(0).front());
  return {.moments = {moments}};
}

Normalization measure_channels(const Dataset& data) {
  const Normalization found = {.moments = channel_moments(data)};
  for (std::size_t c = 0; c < found.moments.size(); ++c) {
    refuse_flat(found.moments[c],
                "dataset " + data.name + ", channel " + std::to_string(c),
                data.image(0)[c * data.shape.pixels()]);
  }
  return found;
}

}  // namespace convoy
