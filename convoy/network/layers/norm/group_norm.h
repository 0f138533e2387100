// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Normalises groups of channels of every sample, over all its pixels and rows, then
/// scales and shifts each channel: PyTorch's GroupNorm, to which a row is a position.
struct GroupNorm {
  std::string name{};
  int groups = 1;
  float epsilon = 1e-5f;  // added to the variance

  static auto fields() {
    return std::tuple{Field{"name", &GroupNorm::name},
                      Field{"groups", &GroupNorm::groups},
                      Field{"epsilon", &GroupNorm::epsilon}};
  }
};

}  // namespace convoy
