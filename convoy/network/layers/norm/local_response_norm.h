// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Divides every number by (k + alpha * m)^beta, where m is the mean of the squares of
/// `size` neighbouring channels, zeros outside: PyTorch's LocalResponseNorm.
struct LocalResponseNorm {
  int size = 5;
  float alpha = 1e-4f, beta = 0.75f, k = 1;

  static auto fields() {
    return std::tuple{Field{"size", &LocalResponseNorm::size},
                      Field{"alpha", &LocalResponseNorm::alpha},
                      Field{"beta", &LocalResponseNorm::beta},
                      Field{"k", &LocalResponseNorm::k}};
  }
};

}  // namespace convoy
