// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Normalises every row over its features, then scales and shifts each feature.
struct LayerNorm {
  std::string name{};
  float epsilon = 1e-5f;  // added to the variance

  static auto fields() {
    return std::tuple{Field{"name", &LayerNorm::name},
                      Field{"epsilon", &LayerNorm::epsilon}};
  }
};

}  // namespace convoy
