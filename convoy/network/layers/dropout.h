// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// In training, zeroes elements and scales the others up to make up for it.
struct Dropout {
  float probability = 0.5f;  // that an element becomes zero

  static auto fields() { return std::tuple{Field{"probability", &Dropout::probability}}; }
};

}  // namespace convoy
