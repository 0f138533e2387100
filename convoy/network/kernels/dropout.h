// SPDX-License-Identifier: Apache-2.0
//
// Dropout: which numbers are kept, and keeping them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// Decides for rows of sixteen images which of them keep their number. kept[i] is that of
/// row first + i, whose random words, blocks 2 * (first + i) and the next, are sixteen
/// numbers of sixteen bits, lower halves first; an image is kept whose number is at least
/// `threshold`.
struct DrawKept {
  const RandomStream& random;
  std::size_t first, rows;
  std::uint32_t threshold;  // at most 2^16
  std::uint16_t* kept;      // one bit per image
};

/// dst = src times `factor` where kept, else times zero: not-a-number stays.
struct ScaleKept {
  const float* src;  // [rows][16]
  const std::uint16_t* kept;
  std::size_t rows;
  float factor;
  float* dst;
};

struct DropoutKernels {
  void (*draw)(const DrawKept&);
  void (*scale)(const ScaleKept&);
};

const DropoutKernels& dropout_kernels(KernelSet set);

}  // namespace convoy
