// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/statistics.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "convoy/base/error.h"

namespace convoy {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

void count(std::span<const std::uint8_t> bytes, Histogram& bins) {
  for (const std::uint8_t byte : bytes) ++bins[byte];
}

PixelMoments moments_of(const Histogram& bins) {
  std::uint64_t n = 0, sum = 0, squares = 0;
  for (std::uint64_t value = 0; value < bins.size(); ++value) {
    n += bins[value];
    sum += bins[value] * value;
    squares += bins[value] * value * value;
  }
  // n * squares - sum * sum does not fit 64 bits for 47 million pixels.
  using Wide = unsigned __int128;
  const Wide spread = Wide{n} * squares - Wide{sum} * sum;
  const double scale = 255.0 * static_cast<double>(n);
  return {static_cast<double>(sum) / scale,
          std::sqrt(static_cast<double>(spread)) / scale};
}

}  // namespace

PixelMoments pixel_moments(const Dataset& data) {
  check(!data.images.empty(), "a dataset has pixels");
  Histogram bins{};
  count(data.images, bins);
  return moments_of(bins);
}

std::vector<PixelMoments> channel_moments(const Dataset& data) {
  check(data.size() > 0, "a dataset has samples");
  const auto channels = static_cast<std::size_t>(data.shape.channels);
  const std::size_t plane = data.shape.pixels();
  std::vector<Histogram> bins(channels);
  for (std::size_t sample = 0; sample < data.size(); ++sample) {
    const std::span<const std::uint8_t> image = data.image(sample);
    for (std::size_t c = 0; c < channels; ++c) {
      count(image.subspan(c * plane, plane), bins[c]);
    }
  }
  std::vector<PixelMoments> moments;
  for (const Histogram& of_channel : bins) moments.push_back(moments_of(of_channel));
  return moments;
}

std::vector<std::size_t> class_counts(const Dataset& data) {
  std::vector<std::size_t> counts(data.classes.size());
  for (const std::uint8_t label : data.labels) ++counts[label];
  return counts;
}

}  // namespace convoy
