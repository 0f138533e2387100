// SPDX-License-Identifier: Apache-2.0
//
// Synthetic: images made in memory that a network can learn to tell apart.
//
//   sample = prototype of its class, shifted a little
//          + a part of another class's prototype + noise, clipped to 0..255
//
// A class's prototype is a smooth random image. A sample is a function of (seed, split,
// index) alone and made with integers, so it is the same on every machine. Train and test
// share prototypes but no samples. Sample i belongs to class i modulo the classes. Pixels
// are bytes, or the same numbers as floats from 0 to 1.

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
  double noise = 0.25;  // standard deviation of a pixel, 1 being black to white; 0 to 4
  double blend = 0.4;  // at most this part of a sample is of another class; below 0.5 all
                       // samples can be told apart, from there on some cannot; 0 to 1
  int shift = 2;       // at most this many pixels, up or down and left or right
  bool floats = false;  // pixels are floats
};

inline constexpr int kMostSyntheticClasses = 1'000'000;

/// Throws InputError of kind `settings` for an option out of its range, `storage` if
/// there is too little memory.
DataPair make_synthetic(const SyntheticOptions& options);

}  // namespace convoy
