// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// weight x + bias for every row, all of whose numbers are features.
struct Linear {
  std::string name{};
  int features = 1;  // of the output
  bool bias = true;

  static auto fields() {
    return std::tuple{Field{"name", &Linear::name}, Field{"features", &Linear::features},
                      Field{"bias", &Linear::bias}};
  }
};

}  // namespace convoy
