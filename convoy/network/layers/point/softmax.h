// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Softmax over the channels of every row and pixel.
struct ChannelSoftmax {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
