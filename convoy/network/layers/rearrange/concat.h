// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Two or more sources one after the other.
struct Concat {
  std::string axis = "channels";  // or rows

  static auto fields() { return std::tuple{Field{"axis", &Concat::axis}}; }
};

}  // namespace convoy
