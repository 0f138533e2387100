// SPDX-License-Identifier: Apache-2.0
//
// ReductionOrder: which partial sums a job adds, and in which order.
//
// The micro-batches of a job are distributed over its ranks, in runs or in turn
// (params/microbatch_part.h). A rank adds the micro-batches of each complete sub-tree of
// the reduction tree itself; each such sum is a partial. The exchange adds the ranks'
// partials along the rest of the tree, so the result has the same bits on any number of
// ranks. With as many micro-batches as ranks, each rank has one partial; in turn, a rank
// has one per micro-batch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/comm/reduction_sum.h"
#include "convoy/params/microbatch_part.h"

namespace convoy {

class ReductionOrder final : public ReductionSum {
 public:
  /// Requires: micro-batches >= ranks >= 1.
  ReductionOrder(std::size_t microbatches, int ranks, Deal deal = Deal::runs);

  std::size_t microbatches() const { return microbatches_; }
  int ranks() const override { return static_cast<int>(first_partial_.size()) - 1; }

  /// The micro-batches that a rank computes.
  MicrobatchPart microbatches_of(int rank) const {
    return deal_microbatches(microbatches_, ranks(), rank, deal_);
  }

  Range partials_of(int rank) const override;
  std::size_t partials() const override { return partials_.size(); }

  /// Computes sum[i] as the partials' [i], added in the tree's order, each sum rounded to
  /// the type. `sum` may be one of them. The calling thread flushes denormals to zero
  /// from then on. Requires: as many partials as partials(), each as long as `sum`.
  void add(std::span<const float* const> partials, std::span<float> sum,
           Dtype dtype = Dtype::fp32) const;
  void add_chunk(std::span<const float* const> partials, Range, std::span<float> sum,
                 Dtype dtype) const override {
    add(partials, sum, dtype);
  }

 private:
  /// A sum in the rest of the tree. An operand is the number of an earlier sum, or ~p for
  /// partial p.
  struct Sum {
    std::int32_t left, right;
  };

  std::int32_t plan(Range microbatches);
  /// Some elements of all partials.
  struct Block {
    std::span<const float* const> partials;
    Range range;
    Dtype dtype;
  };

  void add_block(const Block& block, float* sum) const;
  void evaluate(const Block& block, const Sum& sum, float* result) const;
  const float* operand(const Block& block, std::int32_t which, float* scratch) const;

  std::size_t microbatches_;
  Deal deal_;
  std::vector<Range> partials_;             // the micro-batches of each partial
  std::vector<std::size_t> first_partial_;  // by rank, and the end
  std::vector<Sum> sums_;                   // operands first, the root last
};

}  // namespace convoy
