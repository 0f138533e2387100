// SPDX-License-Identifier: Apache-2.0
//
// Max pooling and its reverse, a row of windows at a time.

#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// One row of max pooling, for one channel of one pack. `argmax` remembers which element
/// of the window was the largest: the first of equals, row by row.
struct PoolRow {
  const float* src;  // first row of the window
  std::size_t src_row;
  int window, stride, columns;
  float clamp_min;       // 0 makes the result a ReLU's; minus infinity does nothing
  float* dst;            // [columns][16]
  std::uint8_t* argmax;  // [columns][16]
  int window_high = 0;   // rows of a window that is not square; 0: as many as columns

  int high() const { return window_high == 0 ? window : window_high; }
};

/// The reverse of PoolRow: passes each gradient to the element that was the maximum.
/// Where windows overlap, `accumulate` adds to what is there; else all elements of the
/// windows are overwritten.
struct UnpoolRow {
  const float* dst_gradient;   // [columns][16]
  const std::uint8_t* argmax;  // [columns][16]
  int window, stride, columns;
  bool accumulate;
  float* src_gradient;
  std::size_t src_row;
  int window_high = 0;  // as in PoolRow

  int high() const { return window_high == 0 ? window : window_high; }
};

struct PoolKernels {
  void (*row)(const PoolRow&);
  void (*unpool_row)(const UnpoolRow&);
};

const PoolKernels& pool_kernels(KernelSet set);

}  // namespace convoy
