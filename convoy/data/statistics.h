// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a dataset: samples of each class, mean and standard deviation of pixels.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/data/dataset.h"

namespace convoy {

/// Of pixels, bytes scaled to 0..1. The standard deviation is the population's.
struct PixelMoments {
  double mean = 0;
  double deviation = 0;

  bool operator==(const PixelMoments&) const = default;
};

/// Of all pixels of all channels. Of bytes exact up to the last rounding: the sums are
/// integers. Of floats in two passes of sums in double precision.
/// Requires: at least one pixel.
PixelMoments pixel_moments(const Dataset& data);

/// The same, channel by channel.
std::vector<PixelMoments> channel_moments(const Dataset& data);

/// Number of samples by label.
std::vector<std::size_t> class_counts(const Dataset& data);

}  // namespace convoy
