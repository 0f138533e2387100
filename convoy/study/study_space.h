// SPDX-License-Identifier: Apache-2.0
//
// StudySpace: the settings that a study varies, and their combinations: all of them, or
// some drawn at random.
//
// A dimension is repeated if it only tells how reliable a result is: seeds and folds.
// Every combination of the others has all of its values, also in a random study.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/study/sweep_values.h"

namespace convoy {

struct StudyDimension {
  std::string name;                 // "optimizer.lr"
  std::vector<std::string> values;  // unless it has an interval
  std::optional<Interval> interval{};
};

/// Whether results are averaged over that setting: train.seed, data.fold.
bool is_repeated(std::string_view dimension);

struct DrawOptions {
  std::size_t trials = 0;  // random combinations; 0: all
  std::uint64_t seed = 1;  // of the random choice
  std::size_t most = 10'000;
};

/// One value per dimension.
using Combination = std::vector<std::string>;

/// The combinations in the order of the dimensions, the last one varying fastest. What is
/// drawn is a function of the seed, its number and the dimension.
///
/// Throws InputError of kind `settings`, before anything is made, if there are more than
/// `most`, and for an interval without `trials`.
std::vector<Combination> combinations(const std::vector<StudyDimension>& dimensions,
                                      const DrawOptions& options);

}  // namespace convoy
