// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Cuts an image into square patches, row by row: one row of features per patch,
/// [channel][y][x]. A linear layer after it is a patch embedding: a convolution whose
/// stride is its kernel.
struct Patches {
  int size = 16;  // of a patch, in pixels

  static auto fields() { return std::tuple{Field{"size", &Patches::size}}; }
};

}  // namespace convoy
