// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// The largest number of each window. Windows may overlap.
struct MaxPool {
  int window = 2;  // square
  int stride = 0;  // 0: as the window
  int padding = 0;

  int real_stride() const { return stride == 0 ? window : stride; }

  /// Whether windows lie side by side, without padding: a stage before can include it.
  bool is_plain() const { return padding == 0 && real_stride() == window; }

  static auto fields() {
    return std::tuple{Field{"window", &MaxPool::window},
                      Field{"stride", &MaxPool::stride},
                      Field{"padding", &MaxPool::padding}};
  }
};

}  // namespace convoy
