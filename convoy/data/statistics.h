// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a dataset: samples per class, mean and standard deviation of pixels.

#pragma once

#include <cstddef>
#include <vector>

#include "convoy/data/dataset.h"

namespace convoy {

/// Moments of pixels, bytes scaled to 0..1, with the population standard deviation.
struct PixelMoments {
  double mean = 0;
  double deviation = 0;

  bool operator==(const PixelMoments&) const = default;
};

/// Computes the moments over all pixels of all channels. For bytes they are exact up to
/// the last rounding, because the sums are integers; for floats they are sums in double
/// precision, in two passes. Requires: at least one pixel.
PixelMoments pixel_moments(const Dataset& data);

/// The same, per channel.
std::vector<PixelMoments> channel_moments(const Dataset& data);

/// Counts samples by label.
std::vector<std::size_t> class_counts(const Dataset& data);

}  // namespace convoy
