// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/resize.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"

namespace convoy {
namespace {

/// What a sum begins with.
template <class Sum>
constexpr Sum kStart = 0;
template <>
constexpr std::int32_t kStart<std::int32_t> = kByteSumStart;

std::uint8_t pixel_of(std::int32_t sum) { return byte_of_sum(sum); }

float pixel_of(double sum) { return static_cast<float>(sum); }

double triangle(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

/// The number of old pixels up to `place`, to the nearest, of `size`.
std::size_t pixels_up_to(double place, int size) {
  const auto nearest = static_cast<int>(std::floor(place + 0.5));
  return static_cast<std::size_t>(std::clamp(nearest, 0, size));
}

}  // namespace

AxisFilter::AxisFilter(int from, int to) : taps_(static_cast<std::size_t>(to)) {
  check(from > 0 && to > 0, "images have pixels");
  const double ratio = static_cast<double>(from) / to;
  const double reach = std::max(ratio, 1.0);
  most_ = 2 * static_cast<std::size_t>(std::ceil(reach)) + 1;
  weights_.resize(most_ * taps_.size());
  for (std::size_t x = 0; x < taps_.size(); ++x) {
    const double centre = (static_cast<double>(x) + 0.5) * ratio;
    const std::size_t first = pixels_up_to(centre - reach, from);
    taps_[x] = {first, pixels_up_to(centre + reach, from) - first};
    double* weights = &weights_[x * most_];
    double sum = 0;
    for (std::size_t i = 0; i < taps_[x].count; ++i) {
      const double distance = static_cast<double>(i + first) - centre + 0.5;
      weights[i] = triangle(distance * (1 / reach));
      sum += weights[i];
    }
    for (std::size_t i = 0; i < taps_[x].count; ++i) weights[i] /= sum;
  }
  for (const double weight : weights_) {
    const double scaled = weight * (1 << kFractionBits);
    fixed_.push_back(static_cast<std::int32_t>(std::floor(scaled + 0.5)));
  }
}

template <class Number>
Resizer<Number>::Resizer(Shape from, Shape to)
    : from_(from),
      to_(to),
      across_(from.width, to.width),
      down_(from.height, to.height),
      rows_(static_cast<std::size_t>(from.height) * across_.size()),
      sums_(across_.size()),
      resized_(to.size()) {
  check(from.channels == to.channels, "resizing keeps the channels");
}

template <class Number>
std::span<const Number> Resizer<Number>::resize(std::span<const Number> image) {
  check(image.size() == from_.size(), "one image is resized");
  for (std::size_t c = 0; c < static_cast<std::size_t>(from_.channels); ++c) {
    resize_rows(&image[c * from_.pixels()]);
    resize_columns(&resized_[c * to_.pixels()]);
  }
  return resized_;
}

template <class Number>
void Resizer<Number>::resize_rows(const Number* plane) {
  Number* dst = rows_.data();
  for (int row = 0; row < from_.height; ++row, plane += from_.width) {
    for (std::size_t x = 0; x < across_.size(); ++x) {
      const auto [first, count] = across_.taps(x);
      const auto* weights = across_.weights(x, Number{});
      Sum sum = kStart<Sum>;
      for (std::size_t i = 0; i < count; ++i) sum += plane[first + i] * weights[i];
      *dst++ = pixel_of(sum);
    }
  }
}

/// A whole row at a time, so that the compiler vectorises the sums.
template <class Number>
void Resizer<Number>::resize_columns(Number* dst) {
  const std::size_t width = across_.size();
  Sum* sums = sums_.data();
  for (std::size_t y = 0; y < down_.size(); ++y, dst += width) {
    const auto [first, count] = down_.taps(y);
    const auto* weights = down_.weights(y, Number{});
    std::fill_n(sums, width, kStart<Sum>);
    for (std::size_t i = 0; i < count; ++i) {
      const Number* src = &rows_[(first + i) * width];
      for (std::size_t x = 0; x < width; ++x) sums[x] += src[x] * weights[i];
    }
    for (std::size_t x = 0; x < width; ++x) dst[x] = pixel_of(sums[x]);
  }
}

template class Resizer<std::uint8_t>;
template class Resizer<float>;

}  // namespace convoy
