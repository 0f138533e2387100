// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Every pixel of an image becomes a row: {c, h, w} to h * w rows of c channels.
struct ImageToRows {
  static auto fields() { return std::tuple{}; }
};

/// Every row of a sample becomes a pixel: height * width rows of c channels to {c, h, w}.
struct RowsToImage {
  int height = 1, width = 1;

  static auto fields() {
    return std::tuple{Field{"height", &RowsToImage::height},
                      Field{"width", &RowsToImage::width}};
  }
};

}  // namespace convoy
