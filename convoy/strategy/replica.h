// SPDX-License-Identifier: Apache-2.0
//
// Replica: what a rank trains: a copy of the model, complete unless a strategy divides
// it.

#pragma once

#include <span>
#include <vector>

#include "convoy/optimizer/optimizer_step.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/partial_sums.h"
#include "convoy/params/stored_types.h"

namespace convoy {

/// Everything is borrowed.
struct Replica {
  const Layout& layout;
  const Layout& statistics_layout;
  FlatBuffer& values;
  FlatBuffer& statistics;  // running statistics
  PartialSums gradients;
  PartialSums batch_stats;
  OptimizerStep step;
  const StoredTypes* types = nullptr;  // of the values; nullptr: fp32

  /// Computes new values from the sum of the gradients.
  void update() const { step.update(values, gradients.whole()); }
};

/// Returns the values and, if they are rounded, their masters: what all ranks begin with.
std::vector<FlatBuffer*> first_numbers(const Replica& replica);

/// A range of partial sums that is exchanged in one operation.
struct ReduceRange {
  ReduceRange(const PartialSums& sums, Range range)
      : partials(sums.starts(range)),
        whole(sums.whole().view(range)),
        dtype(sums.dtype()) {}
  /// The range of a single partial sum, which is overwritten by the complete sum.
  explicit ReduceRange(std::span<float> numbers)
      : partials{numbers.data()}, whole(numbers) {}

  /// Beginning of the range in each of this rank's partials.
  std::vector<const float*> partials;
  std::span<float> whole;     // destination of the sum over all ranks
  Dtype dtype = Dtype::fp32;  // of every sum
};

/// Returns the ranges that are trained within `range`.
std::vector<ReduceRange> trained_ranges(const PartialSums& sums, const Layout& layout,
                                        Range range);
/// Returns those of all statistics that are not frozen.
std::vector<ReduceRange> statistics_ranges(const Replica& replica);

/// Returns one range per trained tensor, in the layout's order, then those of the
/// statistics.
std::vector<ReduceRange> tensor_ranges(const Replica& replica);

}  // namespace convoy
