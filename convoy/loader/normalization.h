// SPDX-License-Identifier: Apache-2.0
//
// Normalization: the mean and standard deviation by which pixels are normalised.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/statistics.h"

namespace convoy {

/// A byte b of channel c becomes (b / 255 - mean) / std, a float x becomes
/// (x - mean) / std, with the moments of the channel or of all channels.
struct Normalization {
  /// One for all channels, or one per channel.
  std::vector<PixelMoments> moments = {{.mean = 0, .deviation = 1}};

  const PixelMoments& of(std::size_t channel) const {
    return moments.size() == 1 ? moments.front() : moments.at(channel);
  }

  bool fits(Shape image) const {
    return moments.size() == 1 ||
           moments.size() == static_cast<std::size_t>(image.channels);
  }

  bool operator==(const Normalization&) const = default;
};

/// Measures mean and standard deviation over all pixels of the dataset, which should be
/// the training set. Throws InputError of kind `data` if all pixels are equal.
Normalization measure(const Dataset& data);

/// As measure(), per channel.
Normalization measure_channels(const Dataset& data);

}  // namespace convoy
