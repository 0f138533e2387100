// SPDX-License-Identifier: Apache-2.0
//
// Numbers moved between lanes: what attention gathers and transposes.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// dst[i][lane] = lane < before ? first[16 i + lane] : second[16 i + lane - before]. All
/// of first[16 i] .. first[16 i + 15] is read, and sixteen numbers from second[16 i -
/// before] on.
struct JoinLanes {
  const float* first;
  const float* second;
  int before;  // 1 .. 16; with 16 nothing of `second` is read
  float* dst;
  std::size_t dst_row;  // from i to i + 1
  std::size_t rows;
};

struct LaneKernels {
  void (*join)(const JoinLanes&);
  /// dst[i][j] = src[j][i], of sixteen rows of sixteen numbers.
  void (*transpose)(const float* src, float* dst);
};

const LaneKernels& lane_kernels(KernelSet set);

}  // namespace convoy
