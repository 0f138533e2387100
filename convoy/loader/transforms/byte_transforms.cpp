// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/byte_transforms.h"

#include <algorithm>

#include "convoy/loader/transforms/colour_jitter.h"
#include "convoy/loader/transforms/rand_augment.h"

namespace convoy {
namespace {

void mirror_rows(std::span<std::uint8_t> image, int width) {
  for (auto row = image.begin(); row != image.end(); row += width) {
    std::reverse(row, row + width);
  }
}

}  // namespace

std::span<const std::uint8_t> ByteTransforms::apply(std::span<const std::uint8_t> pixels,
                                                    ImageSize size, bool mirrored,
                                                    const RandomStream& stream) {
  image_.assign(pixels.begin(), pixels.end());
  if (mirrored) mirror_rows(image_, size.width);
  const Planes planes{image_, size};
  if (options_.jitter.is_on()) {
    convoy::apply(options_.jitter, draw_jitter(options_.jitter, stream), planes);
  }
  for (int i = 0; i < options_.rand_augment.operations; ++i) {
    convoy::apply(draw_operation(options_.rand_augment, size, stream, i), planes,
                  scratch_);
  }
  return image_;
}

}  // namespace convoy
