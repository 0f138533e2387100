// SPDX-License-Identifier: Apache-2.0
//
// Shape: the extent of one sample, without the batch.
//
// A sample is one or more rows of features. An image is one row whose features are
// channels x height x width; a sequence of tokens is one row per token, whose features
// are channels alone.

#pragma once

#include <cstddef>

namespace convoy {

struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;
  int rows = 1;  // of one sample: a transformer's tokens

  std::size_t pixels() const { return static_cast<std::size_t>(height) * width; }
  /// Numbers of one row.
  std::size_t features() const { return static_cast<std::size_t>(channels) * pixels(); }
  /// Numbers of one sample.
  std::size_t size() const { return static_cast<std::size_t>(rows) * features(); }
  bool operator==(const Shape&) const = default;
};

}  // namespace convoy
