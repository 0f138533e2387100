// SPDX-License-Identifier: Apache-2.0
//
// Pixels of several channels put side by side: what a convolution with one tap
// multiplies.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// dst[pixel][channel][16] = src[channel][pixel][16]. Channels up to the next multiple of
/// sixteen become zeros.
struct GatherPixels {
  const float* src;
  std::size_t src_channel;  // from one channel to the next
  std::size_t channels, pixels;
  float* dst;
  std::size_t dst_pixel;  // from one pixel to the next
};

struct PixelKernels {
  /// Fetches the pixels after these as well: as many as a caller gathers next.
  void (*gather)(const GatherPixels&);
};

const PixelKernels& pixel_kernels(KernelSet set);

}  // namespace convoy
