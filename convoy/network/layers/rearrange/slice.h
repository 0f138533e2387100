// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Every step-th element of an axis from begin up to end, which is left out. Several
/// slices of one source divide it.
struct Slice {
  std::string axis = "channels";  // or height, width, rows
  int begin = 0;                  // below 0: counted from the end of the axis
  int end = 0;                    // 0: the end of the axis; below 0: counted from it
  int step = 1;

  static auto fields() {
    return std::tuple{Field{"axis", &Slice::axis}, Field{"begin", &Slice::begin},
                      Field{"end", &Slice::end}, Field{"step", &Slice::step}};
  }
};

}  // namespace convoy
