// SPDX-License-Identifier: Apache-2.0
//
// Pixels of several channels put side by side, which is what a convolution with one tap
// multiplies, and large results written past the caches.

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

/// dst[row][pixel][16] = src[row][pixel][16], past the caches: see is_large.
struct StreamRows {
  const float* src;  // rows one after the other
  std::size_t rows, pixels;
  float* dst;           // aligned as a pack is
  std::size_t dst_row;  // from one row to the next
};

struct PixelKernels {
  /// Fetches the pixels after these as well: as many as a caller gathers next.
  void (*gather)(const GatherPixels&);
  void (*stream)(const StreamRows&);
  /// Makes what this thread has streamed visible to others, before they are told of it.
  void (*finish_stream)();
};

const PixelKernels& pixel_kernels(KernelSet set);

/// Whether an activation does not stay in the caches until the next stage reads it. It is
/// better streamed then: a cache would first read what is overwritten.
inline bool is_large(std::size_t floats) { return floats >= std::size_t{4} << 20; }

}  // namespace convoy
