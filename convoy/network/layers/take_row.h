// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// One row of every sample: a class token, for instance.
struct TakeRow {
  int row = 0;

  static auto fields() { return std::tuple{Field{"row", &TakeRow::row}}; }
};

}  // namespace convoy
