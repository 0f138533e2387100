// SPDX-License-Identifier: Apache-2.0
//
// The lane tree: the order in which the lanes of a batch are added.
//
// A binary tree over lane numbers, split at the largest power of two below the count. It
// depends on the number of lanes alone, so a sum along it does not depend on who computed
// which lane:
//
//            +               five lanes: ((0+1)+(2+3)) + 4
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

namespace convoy {

/// Where the sub-tree over `lanes` splits. Requires: at least two lanes.
inline std::size_t tree_split(Range lanes) {
  return lanes.begin + std::bit_floor(lanes.size() - 1);
}

/// The largest sub-trees of the tree over `lanes` lanes that lie whole in `part`, in lane
/// order: what one who computed that part can add without the others.
std::vector<Range> whole_subtrees(std::size_t lanes, Range part);

}  // namespace convoy
