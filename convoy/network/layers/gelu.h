// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// x times the normal distribution up to x: a ReLU without an edge.
struct Gelu {
  bool tanh = false;  // with PyTorch's approximation of that distribution by tanh

  static auto fields() { return std::tuple{Field{"tanh", &Gelu::tanh}}; }
};

}  // namespace convoy
