// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// x times the normal distribution up to x: a ReLU without an edge.
struct Gelu {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
