// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Looks rows up in a table, the parameter name.weight [count][channels]: the source has
/// one number per row, whose whole part is the index.
struct Embedding {
  std::string name{};
  int count = 1;  // rows of the table
  int channels = 1;

  static auto fields() {
    return std::tuple{Field{"name", &Embedding::name}, Field{"count", &Embedding::count},
                      Field{"channels", &Embedding::channels}};
  }
};

}  // namespace convoy
