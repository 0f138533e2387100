// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Adds a parameter to every sample: one row per row of the sample.
struct PositionEmbedding {
  std::string name = "pos_embed";  // of the parameter, [1][rows][channels]

  static auto fields() { return std::tuple{Field{"name", &PositionEmbedding::name}}; }
};

}  // namespace convoy
