// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

void refuse_small_image(const std::string& layer, Shape src, int smallest) {
  if (std::min(src.height, src.width) >= smallest) return;
  throw InputError(
      InputKind::settings,
      {.where = "model: " + layer,
       .found = fmt::format("images of {} x {} at this layer", src.height, src.width),
       .expected = fmt::format("at least {0} x {0}", smallest),
       .hint = "use larger images or another model"});
}

std::map<std::string, std::string> window_details(int size, int stride, int padding) {
  return {{"window", fmt::format("{}", size)},
          {"stride", fmt::format("{}", stride)},
          {"padding", fmt::format("{}", padding)}};
}

}  // namespace convoy
