// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

struct Convolution {
  std::string name{};
  int channels = 1;  // of the output
  int kernel = 1;    // square
  int stride = 1;
  int padding = 0;  // zeros around the image
  bool bias = true;

  static auto fields() {
    return std::tuple{Field{"name", &Convolution::name},
                      Field{"channels", &Convolution::channels},
                      Field{"kernel", &Convolution::kernel},
                      Field{"stride", &Convolution::stride},
                      Field{"padding", &Convolution::padding},
                      Field{"bias", &Convolution::bias}};
  }
};

/// The output shape of a convolution for a source that it fits.
Shape output_shape(const Convolution& layer, Shape src);

}  // namespace convoy
