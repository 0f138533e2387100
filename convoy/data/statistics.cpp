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

/// Neighbouring pixels are often equal, and incrementing one counter twice in a row
/// stalls: even and odd pixels have separate histograms.
void count(std::span<const std::uint8_t> plane, Histogram& even, Histogram& odd) {
  std::size_t i = 0;
  for (; i + 1 < plane.size(); i += 2) {
    ++even[plane[i]];
    ++odd[plane[i + 1]];
  }
  if (i < plane.size()) ++even[plane[i]];
}

Histogram sum(Histogram a, const Histogram& b) {
  for (std::size_t value = 0; value < a.size(); ++value) a[value] += b[value];
  return a;
}

/// Calls `use` with the number of a channel and a plane of it, for all planes in order.
template <class Number, class Use>
void for_each_plane(std::span<const Number> images, Shape shape, const Use& use) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t pixels = shape.pixels();
  for (std::size_t plane = 0; plane < images.size() / pixels; ++plane) {
    use(plane % channels, images.subspan(plane * pixels, pixels));
  }
}

std::vector<Histogram> channel_histograms(const Dataset& data) {
  const auto channels = static_cast<std::size_t>(data.shape.channels);
  std::vector<Histogram> even(channels), odd(channels);
  for_each_plane(data.images.bytes(), data.shape,
                 [&](std::size_t channel, std::span<const std::uint8_t> plane) {
                   count(plane, even[channel], odd[channel]);
                 });
  for (std::size_t c = 0; c < channels; ++c) even[c] = sum(even[c], odd[c]);
  return even;
}

PixelMoments moments(const Histogram& bins) {
  std::uint64_t n = 0, sum = 0, squares = 0;
  for (std::uint64_t value = 0; value < bins.size(); ++value) {
    n += bins[value];
    sum += bins[value] * value;
    squares += bins[value] * value * value;
  }
  check(n > 0, "a dataset has pixels");
  // n * squares - sum * sum overflows 64 bits for 47 million pixels.
  using Wide = unsigned __int128;
  const Wide spread = Wide{n} * squares - Wide{sum} * sum;
  const double scale = 255.0 * static_cast<double>(n);
  return {static_cast<double>(sum) / scale,
          std::sqrt(static_cast<double>(spread)) / scale};
}

/// Of floats, by channel, or of all channels as if they were one.
std::vector<PixelMoments> float_moments(const Dataset& data, std::size_t channels) {
  const std::span<const float> images = data.images.floats();
  check(!images.empty(), "a dataset has pixels");
  const double pixels =
      static_cast<double>(images.size()) / static_cast<double>(channels);
  // Sums of differences to a first pixel: pixels that are all alike have exactly no
  // deviation.
  std::vector<double> first(channels), sums(channels);
  for (std::size_t c = 0; c < channels; ++c) first[c] = images[c * data.shape.pixels()];
  for_each_plane(images, data.shape, [&](std::size_t channel, auto plane) {
    const std::size_t c = channel % channels;
    for (const float pixel : plane) sums[c] += pixel - first[c];
  });
  std::vector<PixelMoments> result(channels);
  for (std::size_t c = 0; c < channels; ++c) result[c].mean = first[c] + sums[c] / pixels;
  for_each_plane(images, data.shape, [&](std::size_t channel, auto plane) {
    auto& [mean, squares] = result[channel % channels];
    for (const float pixel : plane) squares += (pixel - mean) * (pixel - mean);
  });
  for (auto& [mean, squares] : result) squares = std::sqrt(squares / pixels);
  return result;
}

}  // namespace

PixelMoments pixel_moments(const Dataset& data) {
  if (!data.images.are_bytes()) return float_moments(data, 1).front();
  Histogram all{};
  for (const Histogram& channel : channel_histograms(data)) all = sum(all, channel);
  return moments(all);
}

std::vector<PixelMoments> channel_moments(const Dataset& data) {
  if (!data.images.are_bytes()) {
    return float_moments(data, static_cast<std::size_t>(data.shape.channels));
  }
  std::vector<PixelMoments> result;
  for (const Histogram& channel : channel_histograms(data)) {
    result.push_back(moments(channel));
  }
  return result;
}

std::vector<std::size_t> class_counts(const Dataset& data) {
  std::vector<std::size_t> counts(data.classes.size());
  for (const std::int32_t label : data.labels) {
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

}  // namespace convoy
