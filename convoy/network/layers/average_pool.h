// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"
#include "convoy/network/layers/window.h"

namespace convoy {

/// The mean of each window. Pixels that no window covers do not count.
struct AveragePool {
  Extent window = 0;  // 0: the whole image
  Extent stride = 0;  // 0: as the window
  Padding padding = 0;
  bool ceil_mode = false;         // the last window may reach beyond the padding
  bool count_include_pad = true;  // zeros of the padding count as pixels

  Window real_window(Shape src) const {
    const Extent size = window == 0 ? Extent(src.height, src.width) : window;
    return {.size = size,
            .stride = stride == 0 ? size : stride,
            .padding = padding,
            .ceil_mode = ceil_mode};
  }

  static auto fields() {
    return std::tuple{Field{"window", &AveragePool::window},
                      Field{"stride", &AveragePool::stride},
                      Field{"padding", &AveragePool::padding},
                      Field{"ceil_mode", &AveragePool::ceil_mode},
                      Field{"count_include_pad", &AveragePool::count_include_pad}};
  }
};

}  // namespace convoy
