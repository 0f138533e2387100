// SPDX-License-Identifier: Apache-2.0
//
// ReductionOrder: which partial sums a job adds, and in which order.
//
// The micro-batches of a job are distributed over its ranks by even_part. A rank adds the
// micro-batches of each complete sub-tree of the reduction tree itself; each such sum is
// a partial. The exchange adds the ranks' partials along the rest of the tree, so the
// result has the same bits on any number of ranks. With as many micro-batches as ranks,
// each rank has one partial.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {

class ReductionOrder {
 public:
  /// Requires: micro-batches >= ranks >= 1.
  ReductionOrder(std::size_t microbatches, int ranks);

  std::size_t microbatches() const { return microbatches_; }
  int ranks() const { return static_cast<int>(first_partial_.size()) - 1; }

  /// The micro-batches that a rank computes.
  Range microbatches_of(int rank) const;

  /// The numbers of a rank's partials, among those of all ranks in micro-batch order.
  Range partials_of(int rank) const;
  std::size_t partials() const { return partials_.size(); }

  /// Computes sum[i] as the partials' [i], added in the tree's order. `sum` may be one of
  /// them. The calling thread flushes denormals to zero from then on. Requires: as many
  /// partials as partials(), each as long as `sum`.
  void add(std::span<const float* const> partials, std::span<float> sum) const;

 private:
  /// A sum in the rest of the tree. An operand is the number of an earlier sum, or ~p for
  /// partial p.
  struct Sum {
    std::int32_t left, right;
  };

  std::int32_t plan(Range microbatches);
  void add_block(std::span<const float* const> partials, Range block, float* sum) const;
  void evaluate(std::span<const float* const> partials, Range block, const Sum& sum,
                float* result) const;
  const float* operand(std::span<const float* const> partials, Range block,
                       std::int32_t which, float* scratch) const;

  std::size_t microbatches_;
  std::vector<Range> partials_;             // the micro-batches of each partial
  std::vector<std::size_t> first_partial_;  // by rank, and the end
  std::vector<Sum> sums_;                   // operands first, the root last
};

}  // namespace convoy
