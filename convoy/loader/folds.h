// SPDX-License-Identifier: Apache-2.0
//
// Folds: samples in k disjoint parts, of which one validates and the others train.
//
//   order        parts of neighbouring samples, as they are in the dataset
//   shuffled     random parts
//   stratified   parts with the same share of every label, to within one sample
//
// The sizes of folds differ by at most one. Folds follow from samples, labels and seed
// alone, never from the fold that is asked for.

#pragma once

#include <cstdint>
#include <span>

#include "convoy/data/dataset.h"
#include "convoy/loader/sample_order.h"

namespace convoy {

enum class FoldBy { order, shuffled, stratified };

struct FoldOptions {
  int folds = 2;  // at least two
  int fold = 0;   // the one that validates, from 0
  FoldBy by = FoldBy::order;
  std::uint64_t seed = 1;  // of `shuffled`
};

/// Splits `samples`, which are ascending indices into `data`.
///
/// Throws InputError of kind `settings` if there are more folds than samples. Requires:
/// 2 <= folds, 0 <= fold < folds.
Split split_by_fold(const Dataset& data, std::span<const std::uint32_t> samples,
                    const FoldOptions& options);

}  // namespace convoy
