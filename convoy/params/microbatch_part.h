// SPDX-License-Identifier: Apache-2.0
//
// MicrobatchPart: the micro-batches of a batch that one rank computes, and their samples.
//
// A batch is cut into micro-batches, nearly equal slices in order; a rank has a
// contiguous range of them (a run), or every n-th one of n ranks (in turn):
//
//   a batch of 7 in 3 microbatches:   | 0 1 2 | 3 4 | 5 6 |
//   micro-batches [1, 3) of it:                | 3 4   5 6 |
//   of two ranks, in turn:            | 0 1 2 |     | 5 6 |  and  | 3 4 |

#pragma once

#include <cstddef>

#include "convoy/base/range.h"

namespace convoy {

/// How micro-batches are dealt to ranks. Runs have the fewest partial sums; in turn, what
/// the ranks compute at the same time are neighbours in the reduction tree.
enum class Deal { runs, in_turn };

struct MicrobatchPart {
  std::size_t microbatches = 1;  // of the global batch
  Range own{0, 1};               // of this rank, at least one
  std::size_t stride = 1;        // every how many-th of `own`

  bool is_in_turn() const { return stride > 1; }
  std::size_t count() const { return (own.size() + stride - 1) / stride; }
  /// The own micro-batch `i`, from 0.
  std::size_t number(std::size_t i) const { return own.begin + i * stride; }
  /// The passes of a step: as many as the rank has micro-batches or, if they are dealt in
  /// turn, as the rank that has most.
  std::size_t passes() const {
    return is_in_turn() ? (microbatches + stride - 1) / stride : count();
  }

  /// Samples of a micro-batch if the batch has `batch` samples; may be empty.
  Range samples_of(std::size_t microbatch, std::size_t batch) const {
    return even_part(batch, microbatches, microbatch);
  }

  /// Number of samples of the first `count` own micro-batches.
  std::size_t samples_before(std::size_t count, std::size_t batch) const {
    std::size_t samples = 0;
    for (std::size_t i = 0; i < count; ++i)
      samples += samples_of(number(i), batch).size();
    return samples;
  }

  /// Number of samples of all own micro-batches.
  std::size_t sample_count(std::size_t batch) const {
    return samples_before(count(), batch);
  }
};

/// All micro-batches of a batch that is cut into `microbatches`.
inline MicrobatchPart all_microbatches(std::size_t microbatches) {
  return {microbatches, {0, microbatches}};
}

/// The micro-batches of a rank. Requires: micro-batches >= ranks.
inline MicrobatchPart deal_microbatches(std::size_t microbatches, int ranks, int rank,
                                        Deal deal) {
  const auto all = static_cast<std::size_t>(ranks), own = static_cast<std::size_t>(rank);
  if (deal == Deal::runs) return {microbatches, even_part(microbatches, all, own)};
  return {microbatches, {own, microbatches}, all};
}

}  // namespace convoy
