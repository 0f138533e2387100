// SPDX-License-Identifier: Apache-2.0
//
// LanePart: which lanes of a batch someone computes, and which samples those are.
//
// A batch is cut into lanes, nearly equal slices in order; a rank has a run of them:
//
//   a batch of 7 in 3 lanes:   | 0 1 2 | 3 4 | 5 6 |
//   lanes [1, 3) of it:                | 3 4   5 6 |

#pragma once

#include <cstddef>

#include "convoy/base/range.h"

namespace convoy {

struct LanePart {
  std::size_t lanes = 1;  // of a whole batch
  Range own{0, 1};        // of these, at least one

  /// Samples of a lane in a batch of `batch`; none if the batch is too small.
  Range samples_of(std::size_t lane, std::size_t batch) const {
    return even_part(batch, lanes, lane);
  }

  /// Samples of all own lanes.
  Range samples(std::size_t batch) const {
    return {samples_of(own.begin, batch).begin, samples_of(own.end - 1, batch).end};
  }
};

/// All lanes of a batch that is cut into `lanes`.
inline LanePart all_lanes(std::size_t lanes) { return {lanes, {0, lanes}}; }

}  // namespace convoy
