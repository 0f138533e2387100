// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "convoy/network/layer.h"

namespace convoy {

/// weight x + bias for every row, all of whose numbers are features.
struct Linear {
  std::string name{};
  int features = 1;  // of the output
  bool bias = true;
  /// How the features of a source row are shaped in files, if not flat: the weight of a
  /// patch embedding is that of a convolution, [outputs][channels][height][width].
  std::vector<int> kernel{};

  static auto fields() {
    return std::tuple{Field{"name", &Linear::name}, Field{"features", &Linear::features},
                      Field{"bias", &Linear::bias}, Field{"kernel", &Linear::kernel}};
  }
};

}  // namespace convoy
