// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/replica.h"

#include "convoy/optimizer/master_values.h"

namespace convoy {

std::vector<FlatBuffer*> first_numbers(const Replica& replica) {
  std::vector<FlatBuffer*> numbers = {&replica.values};
  for (const OptimizerSlot& slot : replica.step.optimizer.slots()) {
    if (slot.name == kMasterSlot) numbers.push_back(&slot.numbers);
  }
  return numbers;
}

std::vector<ReduceRange> trained_ranges(const PartialSums& sums, const Layout& layout,
                                        Range range) {
  std::vector<ReduceRange> pieces;
  for (const Range& trained : layout.trained_in(range)) {
    pieces.emplace_back(sums, trained);
  }
  return pieces;
}

std::vector<ReduceRange> statistics_ranges(const Replica& replica) {
  return trained_ranges(replica.batch_stats, replica.statistics_layout,
                        {0, replica.statistics_layout.size()});
}

std::vector<ReduceRange> tensor_ranges(const Replica& replica) {
  std::vector<ReduceRange> pieces;
  for (const Segment& segment : replica.layout.segments()) {
    if (segment.trained) pieces.emplace_back(replica.gradients, segment.range);
  }
  for (const ReduceRange& piece : statistics_ranges(replica)) pieces.push_back(piece);
  return pieces;
}

}  // namespace convoy
