// SPDX-License-Identifier: Apache-2.0
//
// Normalization: what makes pixels numbers of mean 0 and deviation 1.

#pragma once

#include "convoy/data/dataset.h"

namespace convoy {

/// A byte b becomes (b / 255 - mean) / deviation.
struct Normalization {
  double mean = 0;
  double deviation = 1;

  bool operator==(const Normalization&) const = default;
};

/// Mean and deviation of all pixels of the dataset, which should be the training one.
/// Throws InputError of kind `data` if all pixels are alike.
Normalization measure(const Dataset& data);

}  // namespace convoy
