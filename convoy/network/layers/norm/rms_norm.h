// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Divides every row by the root of its features' mean square, then scales each feature:
/// PyTorch's RMSNorm over the last dimension of tokens, or the last three of images.
struct RmsNorm {
  std::string name{};
  // Added to the mean square; PyTorch's default (eps=None) is the machine epsilon.
  float epsilon = std::numeric_limits<float>::epsilon();

  static auto fields() {
    return std::tuple{Field{"name", &RmsNorm::name}, Field{"epsilon", &RmsNorm::epsilon}};
  }
};

}  // namespace convoy
