// SPDX-License-Identifier: Apache-2.0
//
// Replica: what a rank trains, as its strategy sees it: a complete copy of the model.

#pragma once

#include <span>
#include <vector>

#include "convoy/optimizer/optimizer_step.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/params/partial_sums.h"

namespace convoy {

/// Borrowed, all of it.
struct Replica {
  const Layout& layout;
  FlatBuffer& values;
  FlatBuffer& statistics;  // the running ones
  PartialSums gradients;
  PartialSums batch_stats;
  OptimizerStep step;

  /// New values from the gradients' sum.
  void update() const { step.update(values, gradients.whole()); }
};

/// A range of partial sums that is exchanged in one operation.
struct ReduceRange {
  ReduceRange(const PartialSums& sums, Range range)
      : partials(sums.starts(range)), whole(sums.whole().view(range)) {}
  /// Where this rank has one partial sum, which the whole sum overwrites.
  explicit ReduceRange(std::span<float> numbers)
      : partials{numbers.data()}, whole(numbers) {}

  std::vector<const float*> partials;  // where it begins in each of this rank's
  std::span<float> whole;              // where the sum over all ranks goes
};

/// One range per tensor, in the layout's order, and one for the statistics if there are
/// any.
std::vector<ReduceRange> tensor_ranges(const Replica& replica);

}  // namespace convoy
