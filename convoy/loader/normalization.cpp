// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/normalization.h"

#include <fmt/format.h>

#include <string>

#include "convoy/base/error.h"

namespace convoy {
namespace {

/// `pixel` is the number in the first image of the pixel that is to be named.
void refuse_flat(const PixelMoments& moments, const std::string& where,
                 const Dataset& data, std::size_t pixel) {
  if (moments.deviation > 0) return;
  throw InputError(
      InputKind::data,
      {.where = where,
       .found = data.visit_image(
           0, [&](auto image) { return fmt::format("every pixel is {}", image[pixel]); }),
       .expected =
           "pixels that differ: there is nothing to learn otherwise, and no std to "
           "divide by",
       .hint = ""});
}

}  // namespace

Normalization measure(const Dataset& data) {
  const PixelMoments moments = pixel_moments(data);
  refuse_flat(moments, "dataset " + data.name, data, 0);
  return {.moments = {moments}};
}

Normalization measure_channels(const Dataset& data) {
  const Normalization found = {.moments = channel_moments(data)};
  for (std::size_t c = 0; c < found.moments.size(); ++c) {
    refuse_flat(found.moments[c],
                "dataset " + data.name + ", channel " + std::to_string(c), data,
                c * data.shape.pixels());
  }
  return found;
}

}  // namespace convoy
