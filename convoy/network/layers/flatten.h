// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "convoy/network/layer.h"

namespace convoy {

/// All numbers of a row as its channels. Rows are not joined.
struct Flatten {
  static auto fields() { return std::tuple{}; }
};

}  // namespace convoy
