// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/colour_jitter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "convoy/loader/transforms/colours.h"
#include "convoy/loader/transforms/random_words.h"

namespace convoy {
namespace {

enum Part : std::uint8_t { brightness, contrast, saturation, hue };

std::array<double, 4> widths_of(const ColourJitter& options) {
  return {options.brightness, options.contrast, options.saturation, options.hue};
}

/// One of the 24 orders of four, by Fisher and Yates.
std::array<std::uint8_t, 4> random_order(std::uint32_t word) {
  std::array<std::uint8_t, 4> order{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  int number = below(24, word);
  for (int left = 4; left > 1; number /= left, --left) {
    std::swap(order[static_cast<std::size_t>(left - 1)],
              order[static_cast<std::size_t>(number % left)]);
  }
  return order;
}

void apply_part(std::uint8_t part, double factor, const Planes& image) {
  switch (part) {
    case brightness:
      return adjust_brightness(image, factor);
    case contrast:
      return adjust_contrast(image, factor);
    case saturation:
      return adjust_saturation(image, factor);
    default:
      return adjust_hue(image, factor);
  }
}

}  // namespace

DrawnJitter draw_jitter(const ColourJitter& options, const RandomStream& stream) {
  const std::array<double, 4> widths = widths_of(options);
  const auto words = stream.block(kJitterBlock);
  DrawnJitter drawn{.order = random_order(stream.block(kJitterBlock + 1)[0])};
  for (std::size_t i = 0; i < hue; ++i) {
    drawn.factors[i] = between(std::max(0.0, 1 - widths[i]), 1 + widths[i], words[i]);
  }
  drawn.factors[hue] = between(-options.hue, options.hue, words[hue]);
  return drawn;
}

void apply(const ColourJitter& options, const DrawnJitter& drawn, const Planes& image) {
  const std::array<double, 4> widths = widths_of(options);
  for (const std::uint8_t part : drawn.order) {
    if (widths[part] > 0) apply_part(part, drawn.factors[part], image);
  }
}

}  // namespace convoy
