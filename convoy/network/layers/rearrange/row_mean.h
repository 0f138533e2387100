// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// The mean of a sample's rows.
struct RowMean {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
