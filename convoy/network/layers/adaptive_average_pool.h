// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Means of as many windows as the output has pixels, of nearly one size, which cover the
/// image: PyTorch's AdaptiveAvgPool2d.
struct AdaptiveAveragePool {
  int height = 1;
  int width = 1;

  static auto fields() {
    return std::tuple{Field{"height", &AdaptiveAveragePool::height},
                      Field{"width", &AdaptiveAveragePool::width}};
  }
};

}  // namespace convoy
