// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"
#include "convoy/network/layers/window.h"

namespace convoy {

struct Convolution {
  std::string name{};
  int channels = 1;  // of the output
  Extent kernel = 1;
  Extent stride = 1;
  Padding padding = 0;  // zeros around the image
  bool bias = true;
  /// Channels of source and output are cut into so many groups, each of which is a
  /// convolution of its own. As many as the source has channels: a depthwise convolution.
  int groups = 1;
  Extent dilation = 1;  // from one tap to the next, in pixels

  Window window() const { return {kernel, stride, padding, dilation}; }
  bool is_depthwise(Shape src) const { return groups > 1 && groups == src.channels; }

  static auto fields() {
    return std::tuple{Field{"name", &Convolution::name},
                      Field{"channels", &Convolution::channels},
                      Field{"kernel", &Convolution::kernel},
                      Field{"stride", &Convolution::stride},
                      Field{"padding", &Convolution::padding},
                      Field{"bias", &Convolution::bias},
                      Field{"groups", &Convolution::groups},
                      Field{"dilation", &Convolution::dilation}};
  }
};

/// The output shape of a convolution for a source that it fits.
Shape output_shape(const Convolution& layer, Shape src);

}  // namespace convoy
