// SPDX-License-Identifier: Apache-2.0
//
// Copies rows of activations from one number to another: what class tokens, slices of
// rows and the like are made of.

#pragma once

#include <algorithm>
#include <cstddef>

#include "convoy/network/stage.h"

namespace convoy {

/// The source of a row that is filled with zeros.
inline constexpr std::ptrdiff_t kNoRow = -1;

/// Where number `feature` of a row lies in an activation with so many features per row.
inline std::size_t row_offset(std::size_t row, std::size_t features,
                              std::size_t feature = 0) {
  return (row / kPack * features + feature) * kPack + row % kPack;
}

/// Writes every row of `dst`, which is of `shape`: a copy of row source_of(row) of `src`,
/// which has the same features, or zeros for kNoRow.
template <class SourceOf>
void copy_rows(const Pass& pass, Shape shape, const float* src, float* dst,
               const SourceOf& source_of) {
  static constexpr float kZero = 0;
  const std::size_t features = shape.features(), rows = pass.rows(shape);
  pass.team.run(pass.packs(shape), [&](std::size_t pack, int) {
    const float* from[kPack];
    std::size_t stride[kPack];
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const std::size_t row = pack * kPack + lane;
      const std::ptrdiff_t source = row < rows ? source_of(row) : kNoRow;
      const bool none = source == kNoRow;
      from[lane] =
          none ? &kZero : src + row_offset(static_cast<std::size_t>(source), features);
      stride[lane] = none ? 0 : kPack;
    }
    float* to = dst + pack * features * kPack;
    for (std::size_t f = 0; f < features; ++f, to += kPack) {
      for (std::size_t lane = 0; lane < kPack; ++lane) {
        to[lane] = from[lane][f * stride[lane]];
      }
    }
  });
}

}  // namespace convoy
