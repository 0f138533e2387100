// SPDX-License-Identifier: Apache-2.0
//
// The stage of layers that only move numbers: slices, padding, rolls, shuffles. Such a
// layer says for each feature of a row, or for each row of a sample, where it comes from.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convoy/network/layer.h"
#include "convoy/network/stage.h"

namespace convoy {

/// Where nothing of the source is.
inline constexpr int kFilled = -1;

/// Each element of the source goes to one place or to none.
struct Rearrangement {
  Shape src, dst;
  bool of_rows = false;     // of a sample's rows, else of a row's features
  std::vector<int> source;  // of each of these, or kFilled
  float fill = 0;
};

/// A rearrangement of features: source_of(c, y, x) is a feature of the source.
template <class SourceOf>
Rearrangement rearranged_features(Shape src, Shape dst, const SourceOf& source_of) {
  Rearrangement result{.src = src, .dst = dst, .source = {}};
  for (int c = 0; c < dst.channels; ++c) {
    for (int y = 0; y < dst.height; ++y) {
      for (int x = 0; x < dst.width; ++x) result.source.push_back(source_of(c, y, x));
    }
  }
  return result;
}

/// The number of a feature of a row.
inline int feature_number(Shape shape, int c, int y, int x) {
  return (c * shape.height + y) * shape.width + x;
}

std::unique_ptr<Stage> make_rearrange_stage(const Rearrangement& rearrangement);

}  // namespace convoy
