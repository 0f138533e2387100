// SPDX-License-Identifier: Apache-2.0
//
// Pixels as hue, saturation and value, in bytes, and back: Pillow's conversions.

#pragma once

#include <cstdint>

namespace convoy {

struct RgbBytes {
  std::uint8_t red = 0, green = 0, blue = 0;
};

struct HueBytes {
  std::uint8_t hue = 0, saturation = 0, value = 0;
};

HueBytes hue_of(RgbBytes colour);
RgbBytes rgb_of(HueBytes colour);

}  // namespace convoy
