// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Multi-head self-attention between the rows of a sample. A source row has query, key
/// and value one after the other, each of all heads: 3 x heads x size; the result has
/// heads x size. The linear layers before and after it are layers of their own.
struct Attention {
  int heads = 1;

  static auto fields() { return std::tuple{Field{"heads", &Attention::heads}}; }
};

}  // namespace convoy
