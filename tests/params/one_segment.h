// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <utility>

#include "convoy/params/layout.h"

namespace convoy {

/// The layout of as many weights, for tests that need nothing but numbers.
inline Layout one_segment(std::size_t size) {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  builder.add("w", {size}, Role::weight);
  return std::move(builder).build();
}

}  // namespace convoy
