// SPDX-License-Identifier: Apache-2.0
//
// A small layout for tests of strategies: units of several sizes, each with padding at
// its end, and statistics beside them.

#pragma once

#include <utility>

#include "convoy/params/layout.h"

namespace convoy {

inline Layout three_units() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("a.weight", {5, 3}, Role::weight);
  builder.add("a.bias", {5}, Role::bias);
  builder.begin_unit();
  builder.add("b.weight", {70, 11}, Role::weight);
  builder.begin_unit();
  builder.add("c.weight", {7}, Role::weight);
  builder.add("c.bias", {1}, Role::bias);
  return std::move(builder).build();
}

inline Layout some_statistics() {
  LayoutBuilder builder(/*unit_multiple=*/16);
  builder.begin_unit();
  builder.add("mean", {9}, Role::mean);
  return std::move(builder).build();
}

}  // namespace convoy
