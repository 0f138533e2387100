// SPDX-License-Identifier: Apache-2.0

#include "apps/pictures.h"

#include <fmt/format.h>

#include "convoy/plot/plot.h"

namespace convoy {

bool can_draw() {
  static const bool can = [] {
    if (!plot_is_available()) fmt::print(stderr, "convoy: {}\n", kNoPlots);
    return plot_is_available();
  }();
  return can;
}

}  // namespace convoy
