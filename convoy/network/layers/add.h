// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// The sum of two sources of one shape.
struct Add {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
