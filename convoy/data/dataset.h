// SPDX-License-Identifier: Apache-2.0
//
// Dataset: labelled images, bytes or floats, as stored on disk: in memory, in a mapped
// file, or each in a file of its own.
//
// In memory, images are contiguous, [sample][channel][row][column]. Sample i has
// labels[i]. The loader decodes, scales and shuffles them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/data/folder/encoded_images.h"
#include "convoy/data/pixels.h"
#include "convoy/data/shared_array.h"

namespace convoy {

/// The image shape of CIFAR and SVHN.
inline constexpr Shape kSmallColourShape{3, 32, 32};

struct Dataset {
  std::string name{};
  Shape shape{};                       // per image; of files: what is made of each
  std::vector<std::string> classes{};  // by label
  Pixels images{};                     // [count][channels][height][width]; none of files
  SharedLabels labels{};               // [count], each from 0 and below classes.size()
  std::optional<ImageFiles> files{};   // the images, if they are files

  std::size_t size() const { return labels.size(); }

  /// Calls `use` with the pixels of one sample, a span of bytes or of floats.
  /// Requires: sample < size(); images in memory.
  template <class Use>
  decltype(auto) visit_image(std::size_t sample, const Use& use) const {
    return images.visit([&](auto numbers) -> decltype(auto) {
      return use(numbers.subspan(sample * shape.size(), shape.size()));
    });
  }

  /// The pixels of one sample. Requires: sample < size(); images of bytes.
  std::span<const std::uint8_t> image(std::size_t sample) const {
    return images.bytes().subspan(sample * shape.size(), shape.size());
  }
};

struct DataPair {
  Dataset train;
  Dataset test;
};

}  // namespace convoy
