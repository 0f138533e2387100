// SPDX-License-Identifier: Apache-2.0
//
// Synthetic: generated images that a network can learn to classify.
//
//   sample = prototype of its class, shifted a little
//          + a part of another class's prototype + noise, clipped to 0..255
//
// A class's prototype is a smooth random image. A sample is a function of (seed, split,
// index) alone and computed with integers, so it is the same on every machine. Train and
// test share prototypes but no samples. Sample i belongs to class i modulo the number of
// classes. Pixels are bytes, or the same numbers as floats from 0 to 1.

#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/base/shape.h"
#include "convoy/data/dataset.h"

namespace convoy {

struct SyntheticOptions {
  Shape shape{1, 28, 28};
  int classes = 10;  // 2 to kMostSyntheticClasses
  int train_count = 10000;
  int test_count = 2000;
  std::uint64_t seed = 1;
  double noise = 0.25;  // standard deviation per pixel; 1 is black to white; 0 to 4
  /// The largest fraction of a sample that comes from another class, 0 to 1; below 0.5
  /// all samples can be classified, from there on some cannot.
  double blend = 0.4;
  int shift = 2;        // at most this many pixels, vertically and horizontally
  bool floats = false;  // pixels are floats
};

inline constexpr int kMostSyntheticClasses = 1'000'000;

/// Throws InputError of kind `settings` for an option out of range, of kind `storage` if
/// there is too little memory.
DataPair make_synthetic(const SyntheticOptions& options);

}  // namespace convoy
