// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// max(0, x). A linear layer, a convolution, a norm or a sum before it includes it.
struct Relu {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
