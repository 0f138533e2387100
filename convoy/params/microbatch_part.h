// SPDX-License-Identifier: Apache-2.0
//
// MicrobatchPart: the micro-batches of a batch that one rank computes, and their samples.
//
// A batch is cut into micro-batches, nearly equal slices in order; a rank has a
// contiguous range of them:
//
//   a batch of 7 in 3 microbatches:   | 0 1 2 | 3 4 | 5 6 |
//   micro-batches [1, 3) of it:                | 3 4   5 6 |

#pragma once

#include <cstddef>

#include "convoy/base/range.h"

namespace convoy {

struct MicrobatchPart {
  std::size_t microbatches = 1;  // of the global batch
  Range own{0, 1};               // of this rank, at least one

  /// Samples of a micro-batch if the batch has `batch` samples; may be empty.
  Range samples_of(std::size_t microbatch, std::size_t batch) const {
    return even_part(batch, microbatches, microbatch);
  }

  /// Samples of all own micro-batches.
  Range samples(std::size_t batch) const {
    return {samples_of(own.begin, batch).begin, samples_of(own.end - 1, batch).end};
  }
};

/// All micro-batches of a batch that is cut into `microbatches`.
inline MicrobatchPart all_microbatches(std::size_t microbatches) {
  return {microbatches, {0, microbatches}};
}

}  // namespace convoy
