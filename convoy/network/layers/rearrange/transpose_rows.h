// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// Exchanges rows and channels of every sample: r rows of c channels to c rows of r.
struct TransposeRows {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
