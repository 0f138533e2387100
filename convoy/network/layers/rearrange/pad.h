// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Pixels of one value around images.
struct Pad {
  int top = 0, bottom = 0, left = 0, right = 0;
  float value = 0;

  static auto fields() {
    return std::tuple{Field{"top", &Pad::top}, Field{"bottom", &Pad::bottom},
                      Field{"left", &Pad::left}, Field{"right", &Pad::right},
                      Field{"value", &Pad::value}};
  }
};

}  // namespace convoy
