// SPDX-License-Identifier: Apache-2.0
//
// The reduction tree: the order in which the gradients of micro-batches are added.
//
// It is a binary tree over micro-batch numbers, split at the largest power of two below
// the count. It depends on the number of micro-batches alone, so a sum along it does not
// depend on which rank computed which micro-batch:
//
//            +               five microbatches: ((0+1)+(2+3)) + 4
//          /   \.
//         +     4
//       /   \.
//      +     +
//     0 1   2 3

#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/params/microbatch_part.h"

namespace convoy {

/// Returns where the sub-tree over `microbatches` splits. Requires: at least two
/// micro-batches.
inline std::size_t tree_split(Range microbatches) {
  return microbatches.begin + std::bit_floor(microbatches.size() - 1);
}

/// Returns the largest sub-trees of the tree over `microbatches` micro-batches that lie
/// completely in `part`, in micro-batch order: those that the rank with that part can add
/// by itself.
std::vector<Range> whole_subtrees(std::size_t microbatches, Range part);
/// Those of a rank: if micro-batches are dealt in turn, each of its own by itself.
std::vector<Range> whole_subtrees(const MicrobatchPart& part);

}  // namespace convoy
