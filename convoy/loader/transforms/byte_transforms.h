// SPDX-License-Identifier: Apache-2.0
//
// ByteTransforms: what is done to the bytes of an image before it is normalised, in
// torchvision's order: flip, colour jitter, RandAugment.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/loader/transforms/planes.h"
#include "convoy/loader/transforms/transform_options.h"

namespace convoy {

/// For one thread.
class ByteTransforms {
 public:
  explicit ByteTransforms(const TransformOptions& options) : options_(options) {}

  bool is_on() const { return options_.change_bytes(); }

  /// Returns an image, [red, green, blue][row][column], changed as the sample's random
  /// numbers say, until the next call.
  std::span<const std::uint8_t> apply(std::span<const std::uint8_t> pixels,
                                      ImageSize size, bool mirrored,
                                      const RandomStream& stream);

 private:
  TransformOptions options_;
  std::vector<std::uint8_t> image_, scratch_;
};

}  // namespace convoy
