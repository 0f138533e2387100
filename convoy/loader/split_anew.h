// SPDX-License-Identifier: Apache-2.0
//
// A dataset's samples in other splits than the published ones: both halves are joined,
// the training set first, and every sample is drawn at random into the new training,
// validation or test set, or into none.
//
// Which samples a split gets is a function of seed and sizes alone. It is not the choice
// that torch's random_split makes from the same seed, whose generator is another.

#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/data/dataset.h"
#include "convoy/loader/sample_order.h"

namespace convoy {

struct SplitSizes {
  std::size_t train = 0, validation = 0, test = 0;

  std::size_t sum() const { return train + validation + test; }
};

/// The training set holds the training samples and after them those of the validation
/// set; each split's samples are in the order in which they were. Copies them.
///
/// Throws InputError: `settings` if there are fewer samples than the sizes ask for,
/// `storage` if there is too little memory. Requires: both halves are of one dataset.
DataPair split_anew(const DataPair& data, const SplitSizes& sizes, std::uint64_t seed);

/// The splits of the training set that split_anew() makes.
Split in_order(const SplitSizes& sizes);

}  // namespace convoy
