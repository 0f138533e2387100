// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Moves elements along axes, and what leaves at the end of an axis to its begin: element
/// i to i + shift, as PyTorch's roll. Rows are rolled in a layer of their own.
struct Roll {
  int channels = 0, height = 0, width = 0, rows = 0;  // shifts; below 0: to the begin

  static auto fields() {
    return std::tuple{Field{"channels", &Roll::channels}, Field{"height", &Roll::height},
                      Field{"width", &Roll::width}, Field{"rows", &Roll::rows}};
  }
};

}  // namespace convoy
