// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Multiplies every channel by a parameter, name.gamma.
struct LayerScale {
  std::string name{};
  float init = 1e-5f;  // its first value

  static auto fields() {
    return std::tuple{Field{"name", &LayerScale::name}, Field{"init", &LayerScale::init}};
  }
};

}  // namespace convoy
