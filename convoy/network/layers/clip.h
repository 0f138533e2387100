// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// x within [min, max]; as it stands, ReLU6. As in PyTorch's, there is no gradient at the
/// limits.
struct Clip {
  float min = 0;
  float max = 6;

  static auto fields() {
    return std::tuple{Field{"min", &Clip::min}, Field{"max", &Clip::max}};
  }
};

}  // namespace convoy
