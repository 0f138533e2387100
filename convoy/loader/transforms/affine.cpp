// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/affine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace convoy {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// torchvision's slope: the tangent of an angle in degrees.
double slope_of(double slope) {
  const double degrees = std::atan(slope) * (180 / std::numbers::pi);
  return std::tan(degrees * kDegree);
}

/// As Python's round(number, 15).
double rounded_to_15_digits(double number) {
  return std::nearbyint(number * 1e15) / 1e15;
}

/// Four pixels around a place, and its distance from the first.
struct Neighbours {
  std::ptrdiff_t upper_left, upper_right, lower_left, lower_right;
  double right, down;
};

/// Requires: a place inside the image.
Neighbours neighbours_of(double x, double y, ImageSize size) {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const auto column = [&](double at) {
    return std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at), 0, size.width - 1);
  };
  const auto row = [&](double at) {
    return size.width * std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at), 0,
                                                   size.height - 1);
  };
  const std::ptrdiff_t x0 = column(left), x1 = column(left + 1);
  const std::ptrdiff_t y0 = row(top), y1 = row(top + 1);
  return {y0 + x0, y0 + x1, y1 + x0, y1 + x1, x - 0.5 - left, y - 0.5 - top};
}

/// Cut off, not rounded, as Pillow does.
std::uint8_t interpolated(const std::uint8_t* plane, const Neighbours& at) {
  const auto between = [](double from, double to, double part) {
    return from + (to - from) * part;
  };
  const double upper = between(plane[at.upper_left], plane[at.upper_right], at.right);
  const double lower = between(plane[at.lower_left], plane[at.lower_right], at.right);
  return static_cast<std::uint8_t>(between(upper, lower, at.down));
}

}  // namespace

AffineMap shear_across(double slope) { return {1, slope_of(slope), 0, 0, 1, 0}; }

AffineMap shear_down(double slope) { return {1, 0, 0, slope_of(slope), 1, 0}; }

AffineMap translation(int right, int down) {
  return {1, 0, -static_cast<double>(right), 0, 1, -static_cast<double>(down)};
}

AffineMap rotation(double degrees, ImageSize size) {
  const double whole = std::fmod(degrees, 360.0);
  const double angle = -(whole < 0 ? whole + 360.0 : whole) * kDegree;
  const double cosine = rounded_to_15_digits(std::cos(angle));
  const double sine = rounded_to_15_digits(std::sin(angle));
  const double x = size.width / 2.0, y = size.height / 2.0;
  return {cosine, sine,   cosine * -x + sine * -y + 0.0 + x,
          -sine,  cosine, -sine * -x + cosine * -y + 0.0 + y};
}

void transform(const Planes& image, const AffineMap& map,
               std::vector<std::uint8_t>& scratch) {
  const auto [width, height] = image.size;
  scratch.assign(image.pixels.begin(), image.pixels.end());
  std::ranges::fill(image.pixels, std::uint8_t{0});
  std::size_t pixel = 0;
  for (int row = 0; row < height; ++row) {
    const double y = row + 0.5;
    for (int column = 0; column < width; ++column, ++pixel) {
      const double x = column + 0.5;
      const double from_x = map[0] * x + map[1] * y + map[2];
      const double from_y = map[3] * x + map[4] * y + map[5];
      if (!(from_x >= 0 && from_x < width && from_y >= 0 && from_y < height)) continue;
      const Neighbours at = neighbours_of(from_x, from_y, image.size);
      for (std::size_t c = 0; c < 3; ++c) {
        image.channel(c)[pixel] = interpolated(&scratch[c * image.plane()], at);
      }
    }
  }
}

}  // namespace convoy
