// SPDX-License-Identifier: Apache-2.0
//
// Shape: the size of one sample, an image or a feature vector, without the batch
// dimension.

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
