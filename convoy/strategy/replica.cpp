// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/replica.h"

namespace convoy {

std::vector<ReduceRange> tensor_ranges(const Replica& replica) {
  std::vector<ReduceRange> pieces;
  for (const Segment& segment : replica.layout.segments()) {
    pieces.emplace_back(replica.gradients, segment.range);
  }
  const std::size_t statistics = replica.batch_stats.whole().size();
  if (statistics > 0) pieces.emplace_back(replica.batch_stats, Range{0, statistics});
  return pieces;
}

}  // namespace convoy
