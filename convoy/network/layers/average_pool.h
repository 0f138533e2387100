// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// The mean of each window. Windows do not overlap; pixels that no window covers do not
/// count.
struct AveragePool {
  int window = 0;  // square; 0: the whole image

  static auto fields() { return std::tuple{Field{"window", &AveragePool::window}}; }
};

}  // namespace convoy
