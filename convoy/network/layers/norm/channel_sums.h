// SPDX-License-Identifier: Apache-2.0
//
// What a batch norm computes of a channel.

#pragma once

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// Two sums for each of the sixteen images of a pack.
struct PackSums {
  double first[kPack] = {}, second[kPack] = {};
};

/// Two sums over all real images.
struct ChannelSums {
  double first = 0, second = 0;

  void add(const PackSums& pack_sums, int images) {
    for (int i = 0; i < images; ++i) {
      first += pack_sums.first[i];
      second += pack_sums.second[i];
    }
  }
};

/// A channel is normalised as (y - mean) * inverse, inverse being 1 / standard deviation.
struct ChannelMoments {
  float mean, inverse;
};

/// d(y) = from_gradient * g + from_source * (y - mean) + constant.
struct ChannelCoefficients {
  float from_gradient, from_source, constant;
};

/// scale * y + shift.
struct ChannelLine {
  float scale, shift;
};

}  // namespace convoy
