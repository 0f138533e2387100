// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "convoy/loader/transforms/hues.h"

namespace convoy {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

Histogram histogram_of(std::span<const std::uint8_t> bytes) {
  Histogram counts{};
  for (const std::uint8_t byte : bytes) ++counts[byte];
  return counts;
}

/// The table of a function of bytes, whose results are numbers from 0 to 255.
template <class Function>
ByteTable table_of(const Function& function) {
  ByteTable table;
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(function(byte));
  }
  return table;
}

/// Pillow's blend() of two bytes: the second one by the factor, cut off, not rounded.
inline std::uint8_t blended(std::uint8_t from, std::uint8_t to, float factor) {
  const float sum =
      static_cast<float>(from) + factor * static_cast<float>(int{to} - int{from});
  return static_cast<std::uint8_t>(std::clamp(sum, 0.0f, 255.0f));
}

/// Blends every byte with the same one.
void blend_with(const Planes& image, std::uint8_t from, double factor) {
  const ByteTable table = table_of([&](int byte) {
    return blended(from, static_cast<std::uint8_t>(byte), static_cast<float>(factor));
  });
  look_up(image.pixels, table);
}

/// Pillow's luminance.
inline std::uint8_t grey(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return static_cast<std::uint8_t>((19595 * red + 38470 * green + 7471 * blue + 0x8000) >>
                                   16);
}

std::uint8_t mean_grey(const Planes& image) {
  const auto red = image.channel(0), green = image.channel(1), blue = image.channel(2);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < red.size(); ++i) sum += grey(red[i], green[i], blue[i]);
  const double mean = static_cast<double>(sum) / static_cast<double>(red.size());
  return static_cast<std::uint8_t>(std::floor(mean + 0.5));
}

/// The mean of a pixel, counted five times, and its eight neighbours. `above`, `row` and
/// `below` point to the pixel and those above and below it.
inline std::uint8_t smooth_pixel(const std::uint8_t* above, const std::uint8_t* row,
                                 const std::uint8_t* below) {
  constexpr float kOnce = 1.0f / 13, kOften = 5.0f / 13;
  // The order of Pillow's sums.
  const auto sum_of_row = [](const std::uint8_t* at, float centre) {
    return static_cast<float>(at[-1]) * kOnce + static_cast<float>(at[0]) * centre +
           static_cast<float>(at[1]) * kOnce;
  };
  float sum = 0.5f;
  sum += sum_of_row(below, kOnce);
  sum += sum_of_row(row, kOften);
  sum += sum_of_row(above, kOnce);
  return static_cast<std::uint8_t>(std::clamp(sum, 0.0f, 255.0f));
}

/// Smooths a plane; pixels at its edges stay.
void smooth_plane(const std::uint8_t* src, ImageSize size, std::uint8_t* dst) {
  const std::ptrdiff_t width = size.width;
  std::copy_n(src, width * size.height, dst);
  for (int y = 1; y + 1 < size.height; ++y) {
    const std::uint8_t* row = src + y * width;
    for (std::ptrdiff_t x = 1; x + 1 < width; ++x) {
      dst[y * width + x] = smooth_pixel(row - width + x, row + x, row + width + x);
    }
  }
}

/// Spreads the bytes from the least to the largest that occurs.
ByteTable spread(const Histogram& counts) {
  const auto occurs = [](std::uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(counts, occurs) - counts.begin();
  const auto last =
      255 - (std::find_if(counts.rbegin(), counts.rend(), occurs) - counts.rbegin());
  if (last <= first) return table_of([](int byte) { return byte; });
  const double scale = 255.0 / static_cast<double>(last - first);
  const double offset = -static_cast<double>(first) * scale;
  return table_of([&](int byte) {
    return std::clamp(static_cast<int>(byte * scale + offset), 0, 255);
  });
}

ByteTable equalized(const Histogram& counts) {
  const auto last = std::find_if(counts.rbegin(), counts.rend(),
                                 [](std::uint64_t count) { return count > 0; });
  const std::uint64_t total =
      std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t step = last == counts.rend() ? 0 : (total - *last) / 255;
  if (step == 0) return table_of([](int byte) { return byte; });
  std::uint64_t below = step / 2;
  return table_of([&](int byte) {
    const std::uint64_t place = below / step;
    below += counts[static_cast<std::size_t>(byte)];
    return std::min<std::uint64_t>(place, 255);
  });
}

}  // namespace

void adjust_brightness(const Planes& image, double factor) {
  blend_with(image, 0, factor);
}

void adjust_contrast(const Planes& image, double factor) {
  blend_with(image, mean_grey(image), factor);
}

void adjust_saturation(const Planes& image, double factor) {
  const auto red = image.channel(0), green = image.channel(1), blue = image.channel(2);
  const auto by = static_cast<float>(factor);
  for (std::size_t i = 0; i < red.size(); ++i) {
    const std::uint8_t shade = grey(red[i], green[i], blue[i]);
    red[i] = blended(shade, red[i], by);
    green[i] = blended(shade, green[i], by);
    blue[i] = blended(shade, blue[i], by);
  }
}

void adjust_sharpness(const Planes& image, double factor,
                      std::vector<std::uint8_t>& scratch) {
  scratch.resize(image.plane());
  for (std::size_t c = 0; c < 3; ++c) {
    const std::span<std::uint8_t> plane = image.channel(c);
    smooth_plane(plane.data(), image.size, scratch.data());
    for (std::size_t i = 0; i < plane.size(); ++i) {
      plane[i] = blended(scratch[i], plane[i], static_cast<float>(factor));
    }
  }
}

void adjust_hue(const Planes& image, double factor) {
  const auto red = image.channel(0), green = image.channel(1), blue = image.channel(2);
  // A byte's overflow turns the circle.
  const auto turn = static_cast<std::uint8_t>(static_cast<int>(factor * 255));
  for (std::size_t i = 0; i < red.size(); ++i) {
    HueBytes colour = hue_of({red[i], green[i], blue[i]});
    colour.hue = static_cast<std::uint8_t>(colour.hue + turn);
    const RgbBytes turned = rgb_of(colour);
    red[i] = turned.red;
    green[i] = turned.green;
    blue[i] = turned.blue;
  }
}

void posterize(const Planes& image, int bits) {
  const int mask = ~((1 << (8 - bits)) - 1);
  look_up(image.pixels, table_of([&](int byte) { return byte & mask; }));
}

void solarize(const Planes& image, double threshold) {
  look_up(image.pixels,
          table_of([&](int byte) { return byte < threshold ? byte : 255 - byte; }));
}

void autocontrast(const Planes& image) {
  for (std::size_t c = 0; c < 3; ++c) {
    look_up(image.channel(c), spread(histogram_of(image.channel(c))));
  }
}

void equalize(const Planes& image) {
  for (std::size_t c = 0; c < 3; ++c) {
    look_up(image.channel(c), equalized(histogram_of(image.channel(c))));
  }
}

}  // namespace convoy
