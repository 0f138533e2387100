// SPDX-License-Identifier: Apache-2.0
//
// The range of the flat buffer that a parameter server has.

#pragma once

#include "convoy/base/range.h"
#include "convoy/params/layout.h"

namespace convoy {

inline Range server_range(const Layout& layout, int server, int servers) {
  return even_part(layout.size(), static_cast<std::size_t>(servers),
                   static_cast<std::size_t>(server));
}

}  // namespace convoy
