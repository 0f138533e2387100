// SPDX-License-Identifier: Apache-2.0
//
// LoaderBench: measures how fast the loader prepares batches while nothing else computes.

#pragma once

#include <cstddef>

#include "convoy/settings/settings.h"

namespace convoy {

/// How far pixels are from exactly decoded ones, in levels of 255.
struct DecodeDifference {
  double mean = 0;
  int largest = 0;
};

struct LoaderBenchResult {
  std::size_t images = 0;
  double seconds = 0;
  double images_per_second = 0;
  double image_us = 0;   // microseconds per image
  double core_us = 0;    // of one core, per image
  double decode_us = 0;  // of these, in decoding whole images; 0: they are in memory
  int threads = 1;
  /// data.decode=fast: of random crops, and of the centres that evaluations show.
  DecodeDifference crops{}, centres{};
};

/// Loads the data and takes batches, augmented as in training, for at least that long.
/// Throws InputError.
LoaderBenchResult bench_loader(const Settings& settings, double seconds);

}  // namespace convoy
