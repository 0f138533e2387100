// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// The product of two sources. The second is broadcast over what it has only one of:
/// channels, height x width, rows of a sample.
struct Multiply {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
