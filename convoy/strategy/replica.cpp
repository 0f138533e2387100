// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/replica.h"

namespace convoy {

std::vector<Piece> tensor_pieces(const Replica& replica) {
  std::vector<Piece> pieces;
  for (const Segment& segment : replica.layout.segments()) {
    pieces.emplace_back(replica.gradients, segment.range);
  }
  const std::size_t statistics = replica.found_statistics.whole().size();
  if (statistics > 0) pieces.emplace_back(replica.found_statistics, Range{0, statistics});
  return pieces;
}

}  // namespace convoy
