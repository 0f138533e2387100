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

/// Writes every row of `dst`, which is of `shape`: a copy of the row that begins at
/// place_of(row) in an activation with as many features, or zeros for nullptr.
template <class PlaceOf>
void gather_rows(const Pass& pass, Shape shape, float* dst, const PlaceOf& place_of) {
  static constexpr float kZero = 0;
  const std::size_t features = shape.features(), rows = pass.rows(shape);
  pass.team.run(pass.packs(shape), [&](std::size_t pack, int) {
    const float* from[kPack];
    std::size_t stride[kPack];
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const std::size_t row = pack * kPack + lane;
      const float* place = row < rows ? place_of(row) : nullptr;
      from[lane] = place == nullptr ? &kZero : place;
      stride[lane] = place == nullptr ? 0 : kPack;
    }
    float* to = dst + pack * features * kPack;
    for (std::size_t f = 0; f < features; ++f, to += kPack) {
      for (std::size_t lane = 0; lane < kPack; ++lane) {
        to[lane] = from[lane][f * stride[lane]];
      }
    }
  });
}

/// The same from one activation: row source_of(row) of `src`, or zeros for kNoRow.
template <class SourceOf>
void copy_rows(const Pass& pass, Shape shape, const float* src, float* dst,
               const SourceOf& source_of) {
  const std::size_t features = shape.features();
  gather_rows(pass, shape, dst, [&](std::size_t row) -> const float* {
    const std::ptrdiff_t source = source_of(row);
    if (source == kNoRow) return nullptr;
    return src + row_offset(static_cast<std::size_t>(source), features);
  });
}

}  // namespace convoy
