// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// In training, zeroes whole samples and scales the others up to make up for it: timm's
/// drop path. It stands at the end of a residual branch.
struct StochasticDepth {
  float probability = 0.1f;  // that a sample becomes zero

  static auto fields() {
    return std::tuple{Field{"probability", &StochasticDepth::probability}};
  }
};

}  // namespace convoy
