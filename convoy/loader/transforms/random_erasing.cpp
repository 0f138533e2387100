// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/random_erasing.h"

#include <algorithm>
#include <cmath>

#include "convoy/loader/transforms/random_words.h"

namespace convoy {
namespace {

constexpr double kLeastErased = 0.02, kMostErased = 0.33;          // of the area
constexpr double kLeastErasedRatio = 0.3, kMostErasedRatio = 3.3;  // height to width
constexpr std::uint64_t kErasingAttempts = 10;

std::optional<Box> erased_box(ImageSize size, const std::array<std::uint32_t, 4>& words) {
  const double area = static_cast<double>(size.width) * size.height *
                      between(kLeastErased, kMostErased, words[0]);
  const double ratio = std::exp(
      between(std::log(kLeastErasedRatio), std::log(kMostErasedRatio), words[1]));
  const auto height = static_cast<int>(std::nearbyint(std::sqrt(area * ratio)));
  const auto width = static_cast<int>(std::nearbyint(std::sqrt(area / ratio)));
  if (height >= size.height || width >= size.width) return {};
  return Box{below(size.width - width + 1, words[3]),
             below(size.height - height + 1, words[2]), width, height};
}

}  // namespace

std::optional<Box> draw_erased_box(double probability, ImageSize size,
                                   const RandomStream& stream) {
  if (!(stream.fraction(kEraseBlocks) < probability)) return {};
  for (std::uint64_t attempt = 1; attempt <= kErasingAttempts; ++attempt) {
    if (const auto box = erased_box(size, stream.block(kEraseBlocks + attempt))) {
      return box;
    }
  }
  return {};
}

void erase(std::span<float> image, Shape shape, const Box& box) {
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = box.top; y < box.top + box.height; ++y) {
      const std::ptrdiff_t row = (std::ptrdiff_t{c} * shape.height + y) * shape.width;
      std::fill_n(image.begin() + row + box.left, box.width, 0.0f);
    }
  }
}

}  // namespace convoy
