// SPDX-License-Identifier: Apache-2.0
//
// Dataset: labelled images, one byte per pixel and channel, as stored on disk: in memory,
// or in a mapped file.
//
// Images are contiguous, [sample][channel][row][column], and sample i has labels[i]. The
// loader scales and shuffles them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/data/shared_bytes.h"

namespace convoy {

/// The image shape of CIFAR and SVHN.
inline constexpr Shape kSmallColourShape{3, 32, 32};

struct Dataset {
  std::string name{};
  Shape shape{};                       // per image
  std::vector<std::string> classes{};  // by label
  SharedBytes images{};                // [count][channels][height][width]
  SharedBytes labels{};                // [count], each below classes.size()

  std::size_t size() const { return labels.size(); }

  /// Returns the pixels of one sample. Requires: sample < size().
  std::span<const std::uint8_t> image(std::size_t sample) const {
    return images.subspan(sample * shape.size(), shape.size());
  }
};

struct DataPair {
  Dataset train;
  Dataset test;
};

}  // namespace convoy
