// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Puts one row before the rows of every sample: the same parameter for all samples.
struct ClassToken {
  std::string name = "cls_token";  // of the parameter, [1][1][channels]

  static auto fields() { return std::tuple{Field{"name", &ClassToken::name}}; }
};

}  // namespace convoy
