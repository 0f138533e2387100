// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"
#include "convoy/network/layers/window.h"

namespace convoy {

/// The largest number of each window. Windows may overlap.
struct MaxPool {
  Extent window = 2;
  Extent stride = 0;  // 0: as the window
  Padding padding = 0;
  bool ceil_mode = false;  // the last window may reach beyond the padding

  Window real_window() const {
    return {.size = window,
            .stride = stride == 0 ? window : stride,
            .padding = padding,
            .ceil_mode = ceil_mode};
  }
  /// Whether square windows lie side by side, without padding: a stage before can include
  /// it.
  bool is_plain() const {
    return window.is_square() && padding == 0 && !ceil_mode &&
           real_window().stride == window;
  }

  static auto fields() {
    return std::tuple{
        Field{"window", &MaxPool::window}, Field{"stride", &MaxPool::stride},
        Field{"padding", &MaxPool::padding}, Field{"ceil_mode", &MaxPool::ceil_mode}};
  }
};

}  // namespace convoy
