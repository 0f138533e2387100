// SPDX-License-Identifier: Apache-2.0
//
// Shape: the extent of one sample, image or feature vector, without the batch.

#pragma once

#include <cstddef>

namespace convoy {

struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;

  std::size_t pixels() const { return static_cast<std::size_t>(height) * width; }
  std::size_t size() const { return static_cast<std::size_t>(channels) * pixels(); }
  bool operator==(const Shape&) const = default;
};

}  // namespace convoy
