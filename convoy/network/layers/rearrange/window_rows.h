// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "convoy/network/layer.h"

namespace convoy {

/// The rows of an image of height x width pixels, which come row by row, in the order of
/// windows: all of the first window, row by row, then all of the window to its right.
/// This is what attention's `windows` read.
struct WindowRows {
  int height = 1, width = 1;
  int window_height = 1, window_width = 1;
  bool back = false;  // the reverse: from windows to an image

  static auto fields() {
    return std::tuple{Field{"height", &WindowRows::height},
                      Field{"width", &WindowRows::width},
                      Field{"window_height", &WindowRows::window_height},
                      Field{"window_width", &WindowRows::window_width},
                      Field{"back", &WindowRows::back}};
  }
};

/// Swin's mask of an image that was rolled by -shift_height and -shift_width, as
/// attention's `regions`: of each row in the order of windows, which part of the image it
/// comes from. A window with pixels of several parts does not mix them.
std::vector<int> shifted_regions(const WindowRows& windows, int shift_height,
                                 int shift_width);

}  // namespace convoy
