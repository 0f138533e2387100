// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Takes channels from the groups in turn: the first of each, the second of each ...
struct ChannelShuffle {
  int groups = 2;

  static auto fields() { return std::tuple{Field{"groups", &ChannelShuffle::groups}}; }
};

}  // namespace convoy
