// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/hues.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace convoy {
namespace {

/// The place on the circle of hues, of which each of the six sectors has length 1.
float sector_of(RgbBytes colour, std::uint8_t largest, float range) {
  const auto below = [&](std::uint8_t part) {
    return static_cast<float>(largest - part) / range;
  };
  const float red = below(colour.red), green = below(colour.green),
              blue = below(colour.blue);
  if (colour.red == largest) return blue - green;
  if (colour.green == largest) return static_cast<float>(2.0 + red - blue);
  return static_cast<float>(4.0 + green - red);
}

std::uint8_t cut_to_byte(double number) {
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(number), 0, 255));
}

std::uint8_t rounded_to_byte(double number) {
  return static_cast<std::uint8_t>(
      std::clamp(static_cast<int>(std::round(number)), 0, 255));
}

/// Where on the circle each byte is.
struct HuePlace {
  int sector;      // 0 .. 5
  float fraction;  // of the sector
};

HuePlace place_of(std::uint8_t hue) {
  const double place = static_cast<float>(hue) * 6.0 / 255.0;
  const auto sector = static_cast<int>(std::floor(place));
  return {sector % 6, static_cast<float>(place - static_cast<float>(sector))};
}

const std::array<HuePlace, 256>& places() {
  static const auto all = [] {
    std::array<HuePlace, 256> made{};
    for (std::size_t hue = 0; hue < made.size(); ++hue) {
      made[hue] = place_of(static_cast<std::uint8_t>(hue));
    }
    return made;
  }();
  return all;
}

}  // namespace

HueBytes hue_of(RgbBytes colour) {
  const auto [least, largest] = std::minmax({colour.red, colour.green, colour.blue});
  if (least == largest) return {0, 0, largest};
  const auto range = static_cast<float>(largest - least);
  const float saturation = range / static_cast<float>(largest);
  // Between 5/6 and 2: the fraction of a positive number.
  const double turns = sector_of(colour, largest, range) / 6.0 + 1.0;
  const auto hue = static_cast<float>(turns - std::floor(turns));
  return {cut_to_byte(hue * 255.0), cut_to_byte(saturation * 255.0), largest};
}

RgbBytes rgb_of(HueBytes colour) {
  const std::uint8_t value = colour.value;
  if (colour.saturation == 0) return {value, value, value};
  const auto [sector, fraction] = places()[colour.hue];
  const auto saturation = static_cast<float>(colour.saturation / 255.0);
  const auto full = static_cast<float>(value);
  const std::uint8_t least = rounded_to_byte(full * (1.0 - saturation));
  const std::uint8_t falling =
      rounded_to_byte(full * (1.0 - static_cast<double>(saturation * fraction)));
  const std::uint8_t rising =
      rounded_to_byte(full * (1.0 - saturation * (1.0 - fraction)));
  switch (sector) {
    case 0:
      return {value, rising, least};
    case 1:
      return {falling, value, least};
    case 2:
      return {least, value, rising};
    case 3:
      return {least, falling, value};
    case 4:
      return {rising, least, value};
    default:
      return {value, least, falling};
  }
}

}  // namespace convoy
