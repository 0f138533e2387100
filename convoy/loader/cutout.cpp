// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/cutout.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/loader/transforms/random_words.h"

namespace convoy {
namespace {

constexpr double kLeastArea = 0.08, kMostArea = 1;
constexpr double kLeastRatio = 3.0 / 4, kMostRatio = 4.0 / 3;  // of width to height
constexpr std::uint64_t kAttempts = 10;
// Blocks before are used for flips.
constexpr std::uint64_t kFirstAttempt = 2;

/// As Python's round(): of two nearest numbers the even one.
int rounded(double number) { return static_cast<int>(std::nearbyint(number)); }

std::optional<Box> random_box(ImageSize image, const RandomStream& stream,
                              std::uint64_t attempt) {
  const auto words = stream.block(kFirstAttempt + attempt);
  const double area = static_cast<double>(image.width) * image.height *
                      between(kLeastArea, kMostArea, words[0]);
  const double ratio =
      std::exp(between(std::log(kLeastRatio), std::log(kMostRatio), words[1]));
  const int width = rounded(std::sqrt(area * ratio));
  const int height = rounded(std::sqrt(area / ratio));
  if (width < 1 || height < 1 || width > image.width || height > image.height) return {};
  return Box{below(image.width - width + 1, words[3]),
             below(image.height - height + 1, words[2]), width, height};
}

/// As much of the image's centre as has an allowed ratio.
Box widest_box(ImageSize image) {
  const double ratio = static_cast<double>(image.width) / image.height;
  int width = image.width, height = image.height;
  if (ratio < kLeastRatio) height = rounded(width / kLeastRatio);
  if (ratio > kMostRatio) width = rounded(height * kMostRatio);
  return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

}  // namespace

Cutout centre_cutout(ImageSize image, int short_side, ImageSize shown) {
  check(shown.width <= short_side && shown.height <= short_side,
        "a centre is not larger than its image");
  const auto longer = [&](int side, int shorter) {
    return static_cast<int>(static_cast<double>(short_side) * side / shorter);
  };
  const bool is_tall = image.width <= image.height;
  const ImageSize size = is_tall
                             ? ImageSize{short_side, longer(image.height, image.width)}
                             : ImageSize{longer(image.width, image.height), short_side};
  return {whole(image),
          size,
          {rounded((size.width - shown.width) / 2.0),
           rounded((size.height - shown.height) / 2.0), shown.width, shown.height}};
}

Cutout random_cutout(ImageSize image, ImageSize shown, const RandomStream& stream) {
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    if (const auto box = random_box(image, stream, attempt)) {
      return {*box, shown, whole(shown)};
    }
  }
  return {widest_box(image), shown, whole(shown)};
}

}  // namespace convoy
