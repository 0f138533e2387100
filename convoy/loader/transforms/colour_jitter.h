// SPDX-License-Identifier: Apache-2.0
//
// Colour jitter: brightness, contrast, saturation and hue by random factors, in random
// order, as torchvision's ColorJitter.

#pragma once

#include <array>
#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/loader/transforms/planes.h"
#include "convoy/loader/transforms/transform_options.h"

namespace convoy {

struct DrawnJitter {
  /// Which of brightness (0), contrast (1), saturation (2) and hue (3) comes first, and
  /// so on.
  std::array<std::uint8_t, 4> order{};
  std::array<double, 4> factors{};  // of each
};

DrawnJitter draw_jitter(const ColourJitter& options, const RandomStream& stream);

/// Applies those that the options have.
void apply(const ColourJitter& options, const DrawnJitter& drawn, const Planes& image);

}  // namespace convoy
