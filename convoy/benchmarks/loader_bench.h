// SPDX-License-Identifier: Apache-2.0
//
// LoaderBench: how fast the loader prepares batches when nobody else computes.

#pragma once

#include <cstddef>

#include "convoy/settings/settings.h"

namespace convoy {

struct LoaderBenchResult {
  std::size_t images = 0;
  double seconds = 0;
  double images_per_second = 0;
  double image_us = 0;  // microseconds an image
};

/// Loads the data and takes batches of it, augmented as in training, for that long at
/// least. Throws InputError.
LoaderBenchResult bench_loader(const Settings& settings, double seconds);

}  // namespace convoy
