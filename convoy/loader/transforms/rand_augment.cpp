// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/rand_augment.h"

#include <cmath>

#include "convoy/loader/transforms/affine.h"
#include "convoy/loader/transforms/colours.h"
#include "convoy/loader/transforms/random_words.h"

namespace convoy {
namespace {

/// torch.linspace(first, last, kMagnitudes)[bin], which is computed in floats, the second
/// half from the end.
double linspace(float first, float last, int bin) {
  const float step = (last - first) / static_cast<float>(kMagnitudes - 1);
  if (bin < kMagnitudes / 2) return first + step * static_cast<float>(bin);
  return last - step * static_cast<float>(kMagnitudes - 1 - bin);
}

float farthest_shift(int side) { return static_cast<float>(150.0 / 331.0 * side); }

/// Bits that remain of a byte: of two nearest numbers the even one.
double posterized_bits(int bin) {
  return 8 - std::nearbyint(static_cast<float>(bin) / ((kMagnitudes - 1) / 4.0f));
}

bool is_colour_factor(ImageOperation operation) {
  return operation >= ImageOperation::brightness &&
         operation <= ImageOperation::sharpness;
}

void apply_colours(const DrawnOperation& drawn, const Planes& image,
                   std::vector<std::uint8_t>& scratch) {
  const double factor = 1.0 + drawn.magnitude;
  switch (drawn.operation) {
    case ImageOperation::brightness:
      return adjust_brightness(image, factor);
    case ImageOperation::color:
      return adjust_saturation(image, factor);
    case ImageOperation::contrast:
      return adjust_contrast(image, factor);
    case ImageOperation::sharpness:
      return adjust_sharpness(image, factor, scratch);
    case ImageOperation::posterize:
      return posterize(image, static_cast<int>(drawn.magnitude));
    case ImageOperation::solarize:
      return solarize(image, drawn.magnitude);
    case ImageOperation::autocontrast:
      return autocontrast(image);
    case ImageOperation::equalize:
      return equalize(image);
    default:
      return;
  }
}

AffineMap map_of(const DrawnOperation& drawn, ImageSize size) {
  const double magnitude = drawn.magnitude;
  switch (drawn.operation) {
    case ImageOperation::shear_x:
      return shear_across(magnitude);
    case ImageOperation::shear_y:
      return shear_down(magnitude);
    case ImageOperation::translate_x:
      return translation(static_cast<int>(magnitude), 0);
    case ImageOperation::translate_y:
      return translation(0, static_cast<int>(magnitude));
    default:
      return rotation(magnitude, size);
  }
}

}  // namespace

double magnitude_of(ImageOperation operation, int bin, ImageSize size) {
  if (is_colour_factor(operation)) return linspace(0, 0.9f, bin);
  switch (operation) {
    case ImageOperation::shear_x:
    case ImageOperation::shear_y:
      return linspace(0, 0.3f, bin);
    case ImageOperation::translate_x:
      return linspace(0, farthest_shift(size.width), bin);
    case ImageOperation::translate_y:
      return linspace(0, farthest_shift(size.height), bin);
    case ImageOperation::rotate:
      return linspace(0, 30, bin);
    case ImageOperation::posterize:
      return posterized_bits(bin);
    case ImageOperation::solarize:
      return linspace(255, 0, bin);
    default:
      return 0;
  }
}

bool has_sign(ImageOperation operation) {
  return operation >= ImageOperation::shear_x && operation <= ImageOperation::sharpness;
}

DrawnOperation draw_operation(const RandAugment& options, ImageSize size,
                              const RandomStream& stream, int number) {
  const auto words = stream.block(kOperationBlocks + static_cast<std::uint64_t>(number));
  const auto operation = static_cast<ImageOperation>(below(kImageOperations, words[0]));
  const double magnitude = magnitude_of(operation, options.magnitude, size);
  const bool negative = has_sign(operation) && words[1] >> 31 != 0;
  return {operation, negative ? -magnitude : magnitude};
}

void apply(const DrawnOperation& drawn, const Planes& image,
           std::vector<std::uint8_t>& scratch) {
  if (drawn.operation == ImageOperation::identity) return;
  const bool is_map = drawn.operation <= ImageOperation::rotate;
  if (!is_map) return apply_colours(drawn, image, scratch);
  // Pillow's bilinear filter leaves an image that is not moved as it is.
  if (drawn.magnitude != 0) transform(image, map_of(drawn, image.size), scratch);
}

}  // namespace convoy
